#pragma once

#include <memory>
#include <span>
#include <vector>

#include "encdec/engine/executor.h"

namespace encdec {

// Sequences of so many rows each, packed one after another.
std::vector<Sequence> packed(std::span<const int> rows);
// The same with a past of so many positions each, attending to so many packed source rows each.
std::vector<Sequence> packed(std::span<const int> rows, std::span<const int> pasts,
                             std::span<const int> memory_rows = {});

// Runs one layer as a graph of one node, again and again with the same state.
class LayerRunner {
 public:
  // Row counts of `inputs` may be symbols.
  LayerRunner(std::shared_ptr<const Layer> layer, std::span<const Shape> inputs, int threads = 1,
              DataType type = DataType::float32);

  RunState& state() { return state_; }

  // Gives each sequence a slot of the cache, with its past and its rows already in the index.
  void open_slots(std::vector<Sequence>& sequences);

  // A copy of the layer's output.
  Tensor run(std::span<const Tensor> inputs, std::vector<Sequence> sequences);

 private:
  Executor executor_;
  RunState state_;
};

// A copy that owns its memory.
Tensor copy_of(const Tensor& tensor);
// The given rows of a float32 matrix, in the given order.
Tensor gather_rows(const Tensor& tensor, std::span<const int> rows);

}  // namespace encdec
