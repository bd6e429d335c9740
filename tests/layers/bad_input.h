#pragma once

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "encdec/engine/base/error.h"
#include "tests/support/layer_runner.h"
#include "tests/support/message_of.h"
#include "tests/support/weights_builder.h"

namespace encdec {

// Expects that `make` refuses each tensor of a layer if it is missing, has another shape or is stored as integers, and
// that the message names the tensor.
template <class Make>
void expect_every_weight_is_checked(const std::map<std::string, Tensor>& weights, const Make& make) {
  ASSERT_NO_THROW(make(make_scope(weights)));
  const auto message_for = [&](const std::string& name, const Tensor* replacement) {
    std::map<std::string, Tensor> changed = weights;
    changed.erase(name);
    if (replacement != nullptr) changed.emplace(name, *replacement);
    return message_of<WeightError>([&] { make(make_scope(changed)); });
  };
  for (const auto& [name, tensor] : weights) {
    const Shape& shape = tensor.shape();
    EXPECT_EQ(message_for(name, nullptr), "test: tensor '" + name + "' is missing, expected shape " + to_string(shape));
    for (int axis = 0; axis < shape.rank(); ++axis) {
      std::vector<Dim> dims(shape.dims().begin(), shape.dims().end());
      ++dims[static_cast<std::size_t>(axis)];
      const Tensor larger = Tensor::allocate(Shape(std::span<const Dim>(dims)));
      EXPECT_EQ(message_for(name, &larger),
                "test: tensor '" + name + "': shape " + to_string(larger.shape()) + ", expected " + to_string(shape));
    }
    const Tensor integers = Tensor::allocate(shape, DataType::int8);
    EXPECT_EQ(message_for(name, &integers),
              "test: tensor '" + name + "': stored as int8, expected float32, float16, bfloat16 or float64");
  }
}

template <class L, class Options>
void expect_every_weight_is_checked(const std::map<std::string, Tensor>& weights, const Options& options) {
  expect_every_weight_is_checked(weights,
                                 [&](const WeightScope& scope) { return std::make_unique<L>(scope, options); });
}

// Returns the message of the ShapeError that a graph throws for a layer with inputs of these shapes, without the node's
// name.
inline std::string shape_error(std::shared_ptr<const Layer> layer, const std::vector<Shape>& inputs) {
  const std::string where = "graph 'test', node 'layer' (" + std::string(layer->kind()) + "): ";
  const std::string message = message_of<ShapeError>([&] { LayerRunner(std::move(layer), inputs); });
  if (message == "no exception") return message;
  return message.starts_with(where) ? message.substr(where.size()) : "does not name the node: " + message;
}

// Expects that `runner`, of a layer with a vocabulary of 9, refuses ids below 0 and above 8.
inline void expect_ids_outside_a_vocabulary_of_9_are_refused(LayerRunner runner) {
  Tensor ids = Tensor::allocate({3}, DataType::int32);
  for (const std::int32_t id :
       {-1, 9, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()}) {
    ids.data<std::int32_t>()[2] = id;
    EXPECT_EQ(message_of<InputError>([&] { runner.run(std::array{ids}, {}); }),
              "token id " + std::to_string(id) + ", expected 0 to 8 (vocabulary size 9)");
  }
  ids.data<std::int32_t>()[2] = 8;
  EXPECT_NO_THROW(runner.run(std::array{ids}, {}));
}

}  // namespace encdec
