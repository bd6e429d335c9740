#pragma once

#include "encdec/engine/layer.h"

namespace encdec {

// Rows of a tensor by their numbers: y_t = x_{rows_t};  {x: [S, D], rows: int32 [T]} -> [T, D].
class Gather final : public Layer {
 public:
  std::string_view kind() const override { return "gather"; }
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError for a number outside of x.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;
};

}  // namespace encdec
