#pragma once

#include <span>
#include <string_view>

#include "encdec/engine/base/tensor.h"
#include "encdec/engine/key_value_cache.h"

namespace encdec {

class RunState;

// Inputs that one node may have.
inline constexpr int kMaxInputs = 8;

using Inputs = std::span<const Tensor>;
using Shapes = std::span<const Shape>;

// What the executor runs. A layer holds its weights and is read-only after construction, so one layer serves many runs
// and threads at once; whatever changes in a run lives in RunState.
class Layer {
 public:
  virtual ~Layer() = default;
  Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  // The type's name as graphs print it: "feed_forward".
  virtual std::string_view kind() const = 0;

  // The shape of the output for inputs of these shapes, which may hold symbols.
  // Called when a graph is built; throws ShapeError, saying what was expected, if they do not fit.
  virtual Shape output_shape(Shapes inputs) const = 0;

  // Computes `output`, which has the bound output_shape, from inputs that have been checked. Never overlaps them.
  virtual void forward(Inputs inputs, Tensor& output, RunState& state) const = 0;

  // In what the output is computed.
  virtual DataType output_type() const { return DataType::float32; }

  // What this layer keeps of each position from run to run; nothing by default.
  virtual KeyValueForm key_value_form() const { return {}; }
};

}  // namespace encdec
