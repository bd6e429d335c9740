#pragma once

#include "encdec/engine/layer.h"

namespace encdec {

// What training had.
struct DropoutOptions {
  float rate = 0.0f;  // of the elements that training leaves out
};

// Dropout (Srivastava et al. 2014) as it is after training: y = x, of any shape. Where a network had one while it was
// trained, its graph can show it.
class Dropout final : public Layer {
 public:
  // Throws ConfigError unless the rate is in [0, 1).
  explicit Dropout(const DropoutOptions& options);

  std::string_view kind() const override { return "dropout"; }
  // Throws ShapeError.
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;
};

}  // namespace encdec
