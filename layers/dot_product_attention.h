#pragma once

#include "encdec/layers/dense_attention.h"
#include "encdec/layers/dot_product_scores.h"

namespace encdec {

// Attention with DotProductScores over a dense batch: softmax(q kᵀ / sqrt(D)) v (Vaswani et al. 2017, section 3.2.1),
// masked by valid lengths. Inputs and output as in dense_attention.h, where Dq = Dk = D.
class DotProductAttention final : public Layer {
 public:
  explicit DotProductAttention(const DotProductOptions& options) : scores_(options) {}

  std::string_view kind() const override { return "dot_product_attention"; }
  // Throws ShapeError.
  Shape output_shape(Shapes inputs) const override { return dense_attention_shape(scores_, inputs); }
  // Throws InputError if the lengths are not int32.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override {
    attend_densely(scores_, inputs, output, state);
  }

 private:
  DotProductScores scores_;
};

}  // namespace encdec
