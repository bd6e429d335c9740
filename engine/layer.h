#pragma once

#include <span>
#include <string_view>

#include "encdec/engine/base/tensor.h"
#include "encdec/engine/key_value_cache.h"

namespace encdec {

class RunState;

inline constexpr int kMaxInputs = 8;  // maximum number of inputs of a node

using Inputs = std::span<const Tensor>;
using Shapes = std::span<const Shape>;

// The computation of a node. A layer holds its weights and is read-only after construction, so one
// layer serves many runs and threads at once. RunState holds everything that changes.
class Layer {
 public:
  virtual ~Layer() = default;
  Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  // Returns the name of the layer's type in drawings, such as "feed_forward".
  virtual std::string_view kind() const = 0;

  // Returns the output's shape. Called when a graph is built; shapes may contain symbols. Throws
  // ShapeError with the expected shapes if `inputs` do not fit.
  virtual Shape output_shape(Shapes inputs) const = 0;

  // Computes `output`, which has the shape output_shape() and does not overlap the inputs. Inputs
  // have the types and shapes of the graph's edges.
  virtual void forward(Inputs inputs, Tensor& output, RunState& state) const = 0;

  virtual DataType output_type() const { return DataType::float32; }

  // Layout of the keys and values that this layer caches; by default none.
  virtual KeyValueLayout key_value_form() const { return {}; }
};

}  // namespace encdec
