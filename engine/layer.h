#pragma once

#include <span>
#include <string_view>

#include "encdec/engine/base/tensor.h"
#include "encdec/engine/key_value_cache.h"

namespace encdec {

class RunState;

// Maximum number of inputs of a node.
inline constexpr int kMaxInputs = 8;

using Inputs = std::span<const Tensor>;
using Shapes = std::span<const Shape>;

// A node's computation. A layer holds its weights and is read-only after construction, so one layer serves many runs
// and threads at once. Everything that changes during a run is in RunState.
class Layer {
 public:
  virtual ~Layer() = default;
  Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  // Returns the name of the layer's type as graphs print it: "feed_forward".
  virtual std::string_view kind() const = 0;

  // Returns the shape of the output for inputs of these shapes, which may contain symbols. Called when a graph is
  // built. Throws ShapeError, saying what was expected, if the shapes do not fit.
  virtual Shape output_shape(Shapes inputs) const = 0;

  // Computes `output`, whose shape is output_shape() with the symbols bound. The inputs have the types and shapes
  // of the graph's edges, and `output` does not overlap them.
  virtual void forward(Inputs inputs, Tensor& output, RunState& state) const = 0;

  // Element type of the output.
  virtual DataType output_type() const { return DataType::float32; }

  // Layout of the keys and values that this layer keeps from run to run; none by default.
  virtual KeyValueForm key_value_form() const { return {}; }
};

}  // namespace encdec
