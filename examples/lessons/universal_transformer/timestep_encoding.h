#pragma once

#include "encdec/layers/transformer/position_table.h"

namespace lessons {
using namespace encdec;

// Sum of every row and the sinusoidal encoding of a step, for recurrence in depth (Dehghani et al. 2018, section 2.1).
//   y_r = x_r + sinusoid(step);  {x: [R, D], step: int32 [1]} -> [R, D]
class TimestepEncoding final : public Layer {
 public:
  TimestepEncoding(SinusoidLayout layout, Dim model_dim) : steps_(layout, model_dim) {}  // takes no weights

  std::string_view kind() const override { return "timestep_encoding"; }
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError for a negative step.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  PositionTable steps_;
};

}  // namespace lessons
