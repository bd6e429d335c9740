#pragma once

#include <memory>
#include <span>
#include <vector>

#include "encdec/engine/executor.h"

namespace encdec {

// Returns one sequence per element of `rows`, with that number of rows, packed one after another.
std::vector<Sequence> packed(std::span<const int> rows);
// The same, where sequence i has pasts[i] past positions and attends to source_rows[i] rows of the encoder output,
// which are packed too.
std::vector<Sequence> packed(std::span<const int> rows, std::span<const int> pasts,
                             std::span<const int> source_rows = {});

// A runner of one layer as a graph of one node. All runs share one state.
class LayerRunner {
 public:
  // The numbers of rows in `inputs` may be symbols. The last of `types` is that of all further inputs.
  LayerRunner(std::shared_ptr<const Layer> layer, std::span<const Shape> inputs, int threads = 1,
              const std::vector<DataType>& types = {DataType::float32});

  RunState& state() { return state_; }

  // Opens a slot of the cache for each sequence, and adds the sequence's past and rows to the cache index.
  void open_slots(std::vector<Sequence>& sequences);

  // Runs the layer. Returns a copy of its output.
  Tensor run(std::span<const Tensor> inputs, std::vector<Sequence> sequences);

 private:
  Executor executor_;
  RunState state_;
};

// Returns a copy that owns its memory.
Tensor copy_of(const Tensor& tensor);
// Returns a matrix of the given rows of a float32 matrix, in the given order.
Tensor gather_rows(const Tensor& tensor, std::span<const int> rows);

}  // namespace encdec
