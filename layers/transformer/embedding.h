#pragma once

#include <memory>
#include <optional>

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

// Options of an Embedding.
struct EmbeddingOptions {
  Dim vocabulary = 0;  // V
  Dim model_dim = 0;   // D
  // Whether id V is allowed and stands for a row of zeros.
  bool zero_row = false;
  // Factor of each row; sqrt(D) in the paper.
  float scale = 1.0f;
  // The output projection that has the table as its weights (Press & Wolf 2017); null if the embedding is not tied. A
  // tied embedding reads its rows from the projection, in the projection's precision, so the table is in memory once.
  std::shared_ptr<const Linear> tied = nullptr;
};

// Token embedding (Vaswani et al. 2017, section 3.4): y_r = scale * table[id_r];  ids: int32 [R] -> [R, D].
// A table that is not tied stays in the checkpoint's file, in its stored type; forward() reads only the rows of its
// ids.
class Embedding final : public Layer {
 public:
  // Takes weight [V, D] unless the embedding is tied. Throws WeightError, naming the tensor, if it is missing or does
  // not fit.
  Embedding(const WeightScope& weights, const EmbeddingOptions& options);

  std::string_view kind() const override { return "embedding"; }
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError for an id outside the vocabulary.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  std::optional<WeightMatrix> table_;  // unset if tied
  EmbeddingOptions options_;
};

}  // namespace encdec
