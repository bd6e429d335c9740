#pragma once

#include <memory>
#include <string_view>

#include "encdec/engine/base/error.h"
#include "encdec/engine/layer.h"

namespace encdec {

// y = factor * (sum of all inputs) + 1. All inputs have one shape. Any two orders of nodes give different values.
class ToyLayer final : public Layer {
 public:
  explicit ToyLayer(float factor = 1.0f) : factor_(factor) {}

  std::string_view kind() const override { return "toy"; }

  Shape output_shape(Shapes inputs) const override {
    if (inputs.empty()) throw ShapeError("no input");
    for (const Shape& shape : inputs) {
      if (shape != inputs[0]) {
        throw ShapeError("input has shape " + to_string(shape) + ", expected " + to_string(inputs[0]));
      }
    }
    return inputs[0];
  }

  void forward(Inputs inputs, Tensor& output, RunState&) const override {
    for (std::int64_t i = 0; i < output.elements(); ++i) {
      float sum = 0.0f;
      for (const Tensor& input : inputs) sum += input.data<float>()[i];
      output.data<float>()[i] = factor_ * sum + 1.0f;
    }
  }

 private:
  float factor_;
};

inline std::shared_ptr<const Layer> toy(float factor = 1.0f) {
  return std::make_shared<ToyLayer>(factor);
}

// y[r] = sum of row r: [R, W] -> [R]. A second input, with any number of rows, may follow and is ignored.
class RowSums final : public Layer {
 public:
  std::string_view kind() const override { return "row_sums"; }
  Shape output_shape(Shapes inputs) const override { return {inputs[0][0]}; }
  void forward(Inputs inputs, Tensor& output, RunState&) const override {
    for (std::int64_t r = 0; r < inputs[0].rows(); ++r) {
      float sum = 0.0f;
      for (std::int64_t c = 0; c < inputs[0].width(); ++c) sum += inputs[0].row(r)[c];
      output.data<float>()[r] = sum;
    }
  }
};

}  // namespace encdec
