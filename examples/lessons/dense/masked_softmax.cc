#include "dense/masked_softmax.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dense/valid_lengths.h"
#include "encdec/engine/base/error.h"
#include "encdec/engine/row_sharing.h"
#include "encdec/engine/run_state.h"

namespace lessons {
namespace {

// Finite, so that a row with only masked keys has equal weights instead of NaN. As in d2l.ai.
constexpr float kMaskedScore = -1e6f;

}  // namespace

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
  for_each_row(output, state.team(), [&](int row) {
    std::copy_n(inputs[0].row(row), key_count, output.row(row));
    masked_softmax({output.row(row), static_cast<std::size_t>(key_count)}, lengths.of(row, key_count));
  });
}

void masked_softmax(std::span<float> scores, int valid) {
  if (scores.empty()) return;
  std::ranges::fill(scores.subspan(static_cast<std::size_t>(valid)), kMaskedScore);
  // Subtract the maximum, so that exp() cannot overflow.
  const float maximum = std::ranges::max(scores);
  float sum = 0.0f;
  for (float& score : scores) sum += score = std::exp(score - maximum);
  for (float& score : scores) score /= sum;
}

}  // namespace lessons
