#pragma once

#include <span>

#include "encdec/engine/layer.h"

namespace lessons {
using namespace encdec;

// Softmax of each row of scores. Scores from the row's valid length on are masked: set to exactly -1e6 before the
// softmax.
//   {scores: [B, Q, K]} or {scores, valid lengths: int32 [B] or [B, Q]} -> [B, Q, K]
//   {scores: [R, K]} or {scores, valid lengths: int32 [R]} -> [R, K]
// Special cases:
// - A masked score is finite, so in a row of length 0 every key has weight 1/K.
// - A length above K masks nothing. A negative length counts as 0.
// - In other rows masked keys have weight 0, unless all valid scores are near -1e6 or below it.
// - If K = 0 there are no weights.
// - A valid score that is NaN makes its whole row NaN.
class MaskedSoftmax final : public Layer {
 public:
  std::string_view kind() const override { return "masked_softmax"; }
  // Throws ShapeError if the inputs do not fit.
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError if the valid lengths are not int32.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;
};

// Replaces the scores of one row by their softmax, those from `valid` on masked, for layers that contain MaskedSoftmax.
// REQUIRES: 0 <= valid <= scores.size()
void masked_softmax(std::span<float> scores, int valid);

}  // namespace lessons
