#pragma once

#include <memory>
#include <optional>

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

struct EmbeddingOptions {
  Dim vocabulary = 0;     // V
  Dim model_dim = 0;      // D
  bool zero_row = false;  // id V is allowed and means a row of zeros
  float scale = 1.0f;     // sqrt(D) in the paper
  // Output projection whose weights are the table (Press & Wolf 2017), or null. A tied embedding
  // reads rows from the projection, in its precision, so the table is in memory once.
  std::shared_ptr<const Linear> tied = nullptr;
};

// Token embedding (Vaswani et al. 2017, section 3.4).
//   y_r = scale * table[id_r];  ids: int32 [R] -> [R, D]
// An untied table stays in the checkpoint's file; forward() reads only the rows of its ids.
class Embedding final : public Layer {
 public:
  // Takes weight [V, D] unless the embedding is tied. Throws WeightError, naming the tensor.
  Embedding(const WeightScope& weights, const EmbeddingOptions& options);

  std::string_view kind() const override { return "embedding"; }
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError for an unknown id.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  std::optional<WeightMatrix> table_;  // unset if tied
  EmbeddingOptions options_;
};

}  // namespace encdec
