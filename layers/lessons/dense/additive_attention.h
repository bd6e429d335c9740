#pragma once

#include "encdec/layers/lessons/dense/additive_scores.h"
#include "encdec/layers/lessons/dense/dense_attention.h"

namespace encdec {

// Attention with AdditiveScores over a dense batch (Bahdanau et al. 2014, section 3.1), masked by valid lengths. Inputs
// and output as in dense_attention.h.
class AdditiveAttention final : public DenseAttention<AdditiveScores> {
 public:
  // Takes what AdditiveScores takes. Throws WeightError, naming the tensor, if one is missing or does not fit.
  AdditiveAttention(const WeightScope& weights, const AdditiveOptions& options) : DenseAttention(weights, options) {}

  std::string_view kind() const override { return "additive_attention"; }
};

}  // namespace encdec
