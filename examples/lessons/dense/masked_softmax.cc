#include "encdec/layers/lessons/dense/masked_softmax.h"

#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/base/error.h"
#include "encdec/engine/kernels/softmax.h"
#include "encdec/layers/lessons/dense/query_blocks.h"
#include "encdec/layers/lessons/dense/valid_lengths.h"

namespace encdec {

Shape MaskedSoftmax::output_shape(Shapes inputs) const {
  if (inputs.empty() || inputs.size() > 2) throw ShapeError(fmt::format("{} inputs, expected 1 or 2", inputs.size()));
  const Shape& scores = inputs[0];
  if (scores.rank() != 2 && scores.rank() != 3) {
    throw ShapeError(
        fmt::format("scores have shape {}, expected [batch, queries, keys] or [rows, keys]", to_string(scores)));
  }
  if (inputs.size() == 2) expect_valid_lengths(inputs[1], scores);
  return scores;
}

void MaskedSoftmax::forward(Inputs inputs, Tensor& output, RunState& state) const {
  const int key_count = static_cast<int>(output.width());
  const ValidLengths lengths = inputs.size() == 2 ? ValidLengths(inputs[1], output.shape()) : ValidLengths();
  for_each_query_block(output.shape(), key_count, state, [&](const QueryBlock& block, int thread) {
    float* scratch = state.thread_scratch(thread, kernels::softmax_row(key_count));
    for (Dim row = block.row; row < block.row + block.count; ++row) {
      std::copy_n(inputs[0].row(row), key_count, scratch);
      kernels::masked_softmax(scratch, key_count, lengths.of(row, key_count));
      std::copy_n(scratch, key_count, output.row(row));
    }
  });
}

}  // namespace encdec
