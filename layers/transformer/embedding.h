#pragma once

#include <memory>
#include <optional>

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

// The sizes of an Embedding, and where its table is.
struct EmbeddingOptions {
  Dim vocabulary = 0;  // V
  Dim model_dim = 0;   // D
  // Whether id V stands for a row of zeros.
  bool zero_row = false;
  // Each row is multiplied by it; the paper's is sqrt(D).
  float scale = 1.0f;
  // The projection to logits whose weights are the table (Press & Wolf 2017), where there is one: rows are then read
  // there, in its precision, and the table is in memory once.
  std::shared_ptr<const Linear> tied = nullptr;
};

// Token embedding (Vaswani et al. 2017, section 3.4): y_r = scale * table[id_r];  ids: int32 [R] -> [R, D].
// A table that is not tied stays in the checkpoint's file, in the type it is stored in: only the rows that occur are
// read.
class Embedding final : public Layer {
 public:
  // Takes weight [V, D], unless it is tied. Throws WeightError, naming the tensor, if it is missing or does not fit.
  Embedding(const WeightScope& weights, const EmbeddingOptions& options);

  std::string_view kind() const override { return "embedding"; }
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError for an id that is not there.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  std::optional<WeightMatrix> table_;  // none where it is tied
  EmbeddingOptions options_;
};

}  // namespace encdec
