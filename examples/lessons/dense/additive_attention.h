#pragma once

#include "dense/additive_scores.h"
#include "dense/dense_attention.h"

namespace lessons {
using namespace encdec;

// Attention with AdditiveScores over a dense batch (Bahdanau et al. 2014, section 3.1), masked by valid lengths.
//   output_i = sum_j softmax_j(score_ij) * value_j, with the scores of AdditiveScores
//   {queries: [B, Q, Dq], keys: [B, K, Dk], values: [B, K, V]} -> [B, Q, V]; optional lengths as in DenseAttention
class AdditiveAttention final : public DenseAttention<AdditiveScores> {
 public:
  // Takes the weights of AdditiveScores. Throws WeightError, naming the tensor, if one is missing or does not fit.
  AdditiveAttention(const WeightScope& weights, const AdditiveOptions& options) : DenseAttention(weights, options) {}

  std::string_view kind() const override { return "additive_attention"; }
};

}  // namespace lessons
