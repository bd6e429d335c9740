#pragma once

#include "encdec/engine/layer.h"

namespace encdec {

// Tokens as unit vectors: y_r is 1 at id_r and 0 elsewhere;  ids: int32 [R] -> [R, V].
// An Embedding is a linear map of these without the zeros: Linear(OneHot(ids)), its weight the table transposed, gives
// the same bits. What reads more than one row of a table, such as classes of words or mixtures of tokens, begins here.
class OneHot final : public Layer {
 public:
  // Throws ConfigError for a vocabulary without tokens.
  explicit OneHot(Dim vocabulary);

  std::string_view kind() const override { return "one_hot"; }
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError for an id that is not there.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  Dim vocabulary_;
};

}  // namespace encdec
