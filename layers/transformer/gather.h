#pragma once

#include "encdec/engine/layer.h"

namespace encdec {

// Selects rows by index: y_t = x_{rows_t};  {x: [S, D], rows: int32 [T]} -> [T, D].
class Gather final : public Layer {
 public:
  std::string_view kind() const override { return "gather"; }
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError if a row does not exist.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;
};

}  // namespace encdec
