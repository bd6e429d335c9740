#include "encdec/layers/transformer/embedding.h"

#include <algorithm>

#include "encdec/layers/transformer/expectations.h"

namespace encdec {

Embedding::Embedding(const WeightScope& weights, const EmbeddingOptions& options) : options_(options) {
  if (options.tied == nullptr) table_ = weights.matrix("weight", {options.vocabulary, options.model_dim});
}

Shape Embedding::output_shape(Shapes inputs) const {
  expect_token_ids(inputs);
  return {inputs[0][0], options_.model_dim};
}

void Embedding::forward(Inputs inputs, Tensor& output, RunState&) const {
  expect_integers(inputs[0], "token ids");
  const auto* ids = inputs[0].data<std::int32_t>();
  const Dim width = options_.model_dim;
  for (std::int64_t r = 0; r < inputs[0].elements(); ++r) {
    // Id V means a row of zeros, which neither the checkpoint nor the projection stores.
    if (options_.zero_row && ids[r] == options_.vocabulary) {
      std::fill_n(output.row(r), width, 0.0f);
      continue;
    }
    expect_token_id(ids[r], options_.vocabulary);
    float* row = output.row(r);
    // Copy the row from the projection, with its rounding, or from the checkpoint.
    if (options_.tied != nullptr) {
      options_.tied->copy_weights(ids[r], row);
    } else {
      table_->copy_rows(ids[r], 1, row);
    }
    if (options_.scale != 1.0f) {
      for (Dim i = 0; i < width; ++i) row[i] *= options_.scale;
    }
  }
}

}  // namespace encdec
