#pragma once

#include "encdec/engine/layer.h"

namespace lessons {
using namespace encdec;

// Options of a Dropout.
struct DropoutOptions {
  float rate = 0.0f;  // share of the elements that training sets to zero
};

// Dropout (Srivastava et al. 2014) after training: y = x, of any shape. With this layer a graph can show where dropout
// was used in training.
class Dropout final : public Layer {
 public:
  // Throws ConfigError unless the rate is in [0, 1).
  explicit Dropout(const DropoutOptions& options);

  std::string_view kind() const override { return "dropout"; }
  // Throws ShapeError unless there is one input.
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;
};

}  // namespace lessons
