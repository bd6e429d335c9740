#include "encdec/layers/transformer/token_type_embedding.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"
#include "encdec/layers/transformer/expectations.h"

namespace encdec {

TokenTypeEmbedding::TokenTypeEmbedding(const WeightScope& weights, const TokenTypeOptions& options)
    : table_(Tensor::allocate({options.types, options.model_dim})) {
  weights.matrix("weight", table_.shape()).copy_rows(0, options.types, table_.data<float>());
}

Shape TokenTypeEmbedding::output_shape(Shapes inputs) const {
  expect_count(inputs, 2);
  expect_rows(inputs[0], table_.width(), "input");
  if (inputs[1] != Shape{inputs[0][0]}) {
    throw ShapeError(fmt::format("types have shape {}, expected [rows]", to_string(inputs[1])));
  }
  return inputs[0];
}

void TokenTypeEmbedding::forward(Inputs inputs, Tensor& output, RunState&) const {
  expect_integers(inputs[1], "token types");
  const std::int32_t* types = inputs[1].data<std::int32_t>();
  for (Dim r = 0; r < output.rows(); ++r) {
    if (types[r] < 0 || types[r] >= table_.rows()) {
      throw InputError(fmt::format("token type {}, expected 0 to {}", types[r], table_.rows() - 1));
    }
    const float *input = inputs[0].row(r), *added = table_.row(types[r]);
    float* sum = output.row(r);
    for (Dim i = 0; i < output.width(); ++i) sum[i] = input[i] + added[i];
  }
}

}  // namespace encdec
