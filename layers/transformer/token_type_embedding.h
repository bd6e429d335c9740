#pragma once

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"

namespace encdec {

struct TokenTypeOptions {
  Dim types = 0;      // number of types
  Dim model_dim = 0;  // D
};

// Adds the embedding of its token's type to each row (Devlin et al. 2019, section 3: segment
// embeddings).
//   y_r = x_r + table[type_r];  {x: [R, D], types: int32 [R]} -> [R, D]
class TokenTypeEmbedding final : public Layer {
 public:
  // Takes weight [types, D]. Throws WeightError, naming the tensor.
  TokenTypeEmbedding(const WeightScope& weights, const TokenTypeOptions& options);

  std::string_view kind() const override { return "token_type_embedding"; }
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError for an unknown type.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  Tensor table_;  // float32 [types, D]
};

}  // namespace encdec
