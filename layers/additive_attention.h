#pragma once

#include "encdec/layers/additive_scores.h"
#include "encdec/layers/dense_attention.h"

namespace encdec {

// Attention with AdditiveScores over a dense batch (Bahdanau et al. 2014, section 3.1), masked by valid lengths. Inputs
// and output as in dense_attention.h.
class AdditiveAttention final : public Layer {
 public:
  // Takes what AdditiveScores takes. Throws WeightError, naming the tensor, if one is missing or does not fit.
  AdditiveAttention(const WeightScope& weights, const AdditiveOptions& options) : scores_(weights, options) {}

  std::string_view kind() const override { return "additive_attention"; }
  // Throws ShapeError.
  Shape output_shape(Shapes inputs) const override { return dense_attention_shape(scores_, inputs); }
  // Throws InputError if the lengths are not int32.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override {
    attend_densely(scores_, inputs, output, state);
  }

 private:
  AdditiveScores scores_;
};

}  // namespace encdec
