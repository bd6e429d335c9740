#pragma once

#include "encdec/engine/layer.h"

namespace lessons {
using namespace encdec;

// Token ids as unit vectors: y_r is 1 at id_r and 0 elsewhere;  ids: int32 [R] -> [R, V].
// Linear(OneHot(ids)), with the transposed table as its weight, is bitwise identical to Embedding(ids), which skips the
// zeros. Use OneHot where a token reads more than one row of a table, as with word classes or mixtures of tokens.
class OneHot final : public Layer {
 public:
  // Throws ConfigError if `vocabulary` is less than 1.
  explicit OneHot(Dim vocabulary);

  std::string_view kind() const override { return "one_hot"; }
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError for an id outside the vocabulary.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  Dim vocabulary_;
};

}  // namespace lessons
