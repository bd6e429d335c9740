#pragma once

#include "dense/dense_attention.h"
#include "dense/dot_product_scores.h"

namespace lessons {
using namespace encdec;

// Attention with DotProductScores over a dense batch (Vaswani et al. 2017, section 3.2.1), masked by valid lengths.
//   output = softmax(q kᵀ / sqrt(D)) v, without the division if the scale is plain
//   {queries: [B, Q, D], keys: [B, K, D], values: [B, K, V]} -> [B, Q, V]; optional lengths as in DenseAttention
class DotProductAttention final : public DenseAttention<DotProductScores> {
 public:
  explicit DotProductAttention(const DotProductOptions& options) : DenseAttention(options) {}  // takes no weights

  std::string_view kind() const override { return "dot_product_attention"; }
};

}  // namespace lessons
