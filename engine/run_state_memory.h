#pragma once

#include <array>
#include <vector>

#include "encdec/engine/backend/onednn.h"
#include "encdec/engine/memory_plan.h"
#include "encdec/engine/run_state.h"

namespace encdec {

// A stack allocator. take() adds whole blocks, so earlier tensors stay valid. reset() releases
// everything and replaces several blocks by one of their total size.
class ScratchStack {
 public:
  Tensor take(const Shape& shape);
  void reset();

 private:
  std::vector<Tensor> blocks_;
  std::size_t used_ = 0;  // bytes in use in the last block
};

// The executor's part of a RunState.
struct RunState::Memory {
  Tensor arena;
  std::vector<Tensor> values;  // by edge id: inputs and outputs of the nodes in the current run
  std::vector<Tensor> outputs;
  std::vector<Lifetime> lifetimes;   // by edge id
  std::vector<std::size_t> offsets;  // by edge id: offset in the arena
  Symbols planned_for{-1, -1, -1};   // sizes for which `offsets` were computed
  ScratchStack scratch;
  std::vector<Tensor> thread_scratch;                                 // by thread
  std::vector<backend::MatMulPrimitives> matmul_primitives;           // by thread
  std::vector<KeyValueCache> caches;                                  // by edge id
  std::vector<std::vector<float>> carried;                            // by edge id
  std::array<std::vector<AttentionObserver>, 2> attention_observers;  // by AttendedRows and edge id
  int running = -1;                                                   // edge id of the running node
};

}  // namespace encdec
