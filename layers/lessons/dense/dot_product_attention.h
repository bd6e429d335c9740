#pragma once

#include "encdec/layers/lessons/dense/dense_attention.h"
#include "encdec/layers/lessons/dense/dot_product_scores.h"

namespace encdec {

// Attention with DotProductScores over a dense batch: softmax(q kᵀ / sqrt(D)) v (Vaswani et al. 2017, section 3.2.1),
// masked by valid lengths. Inputs and output as in dense_attention.h, where Dq = Dk = D.
class DotProductAttention final : public DenseAttention<DotProductScores> {
 public:
  explicit DotProductAttention(const DotProductOptions& options) : DenseAttention(options) {}  // has no weights

  std::string_view kind() const override { return "dot_product_attention"; }
};

}  // namespace encdec
