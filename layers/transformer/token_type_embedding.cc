#include "encdec/layers/transformer/token_type_embedding.h"

#include "encdec/layers/transformer/expectations.h"

namespace encdec {

TokenTypeEmbedding::TokenTypeEmbedding(const WeightScope& weights, const TokenTypeOptions& options)
    : first_type_(Tensor::allocate({options.model_dim})) {
  weights.matrix("weight", {options.types, options.model_dim}).copy_rows(0, 1, first_type_.data<float>());
}

Shape TokenTypeEmbedding::output_shape(Shapes inputs) const {
  expect_count(inputs, 1);
  expect_rows(inputs[0], first_type_.width(), "input");
  return inputs[0];
}

void TokenTypeEmbedding::forward(Inputs inputs, Tensor& output, RunState&) const {
  const float* added = first_type_.data<float>();
  for (std::int64_t r = 0; r < output.rows(); ++r) {
    const float* input = inputs[0].row(r);
    float* sum = output.row(r);
    for (Dim i = 0; i < output.width(); ++i) sum[i] = input[i] + added[i];
  }
}

}  // namespace encdec
