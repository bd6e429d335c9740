#pragma once

#include "encdec/engine/layer.h"

namespace encdec {

// Softmax of each row of scores, some of them masked: those from its valid length on become exactly -1e6 first.
//   {scores: [B, Q, K]} or {scores, valid lengths: int32 [B] or [B, Q]} -> [B, Q, K]
//   {scores: [R, K]} or {scores, valid lengths: int32 [R]} -> [R, K]
// Masked scores are finite on purpose: a row of length 0 weighs every key 1/K. A length above K masks nothing, a
// negative one counts as 0. Masked keys of other rows weigh 0, unless all valid scores are near -1e6 or below it.
// Without keys, K = 0, there are no weights. A valid score that is not a number makes all of its row so.
class MaskedSoftmax final : public Layer {
 public:
  std::string_view kind() const override { return "masked_softmax"; }
  // Throws ShapeError.
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError if the lengths are not int32.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;
};

}  // namespace encdec
