#pragma once

#include <cmath>
#include <map>
#include <string>

#include "dense/additive_scores.h"
#include "dense_fixture.h"
#include "tests/support/weights_builder.h"

namespace lessons {

// Random queries, keys and values, and the weights of additive scores.
struct AdditiveCase {
  AdditiveOptions options;
  std::map<std::string, Tensor> weights;
  Tensor queries, keys, values;

  AdditiveCase(std::uint64_t seed, const DenseSizes& sizes, Dim hidden, Bias bias)
      : options{.query_dim = sizes.query_dim, .key_dim = sizes.key_dim, .hidden_dim = hidden, .bias = bias} {
    RandomTensors random(seed);
    queries = random.uniform({sizes.batch, sizes.queries, sizes.query_dim});
    keys = random.uniform({sizes.batch, sizes.keys, sizes.key_dim});
    values = random.uniform({sizes.batch, sizes.keys, sizes.value_dim});
    for (const auto& [name, shape] : shapes()) {
      // With this limit sums are about 1, where tanh is neither the identity nor constant.
      weights[name] = random.uniform(shape, std::sqrt(3.0 / static_cast<double>(shape.last())));
    }
  }

  AdditiveCase(const GoldenLayer& golden, const std::string& name)
      : queries(golden.input(name, "queries")), keys(golden.input(name, "keys")), values(golden.input(name, "values")) {
    const WeightScope scope = golden.weights(name);
    options = {.query_dim = queries.width(),
               .key_dim = keys.width(),
               .hidden_dim = golden.output(name, "hidden").width(),
               .bias = scope.has("value.bias") ? Bias::required : Bias::none};
    for (const auto& [weight, shape] : shapes()) weights[weight] = scope.tensor(weight, shape);
  }

  template <class L>
  std::shared_ptr<const Layer> layer() const {
    return std::make_shared<L>(make_scope(weights), options);
  }

  // Returns the scores of all members of the batch, stacked by rows.
  reference::Matrix expected_scores() const {
    return for_each_member(queries.shape()[0], [this](Dim b) { return expected_scores(b); });
  }
  reference::Matrix expected_scores(Dim b) const {
    using reference::Matrix;
    const bool has_bias = options.bias == Bias::required;
    const auto bias = [&](const std::string& part) {
      return has_bias ? Matrix(weights.at(part + ".bias")) : Matrix(1, options.hidden_dim);
    };
    const auto project = [&](const std::string& part, const Tensor& rows) {
      const Matrix added = bias(part);
      return linear(Matrix(member(rows, b)), Matrix(weights.at(part + ".weight")), &added);
    };
    const Matrix value_bias = bias("value");
    return additive_scores(project("query", queries), project("key", keys), Matrix(weights.at("value.weight")),
                           has_bias ? &value_bias : nullptr);
  }

 private:
  std::map<std::string, Shape> shapes() const {
    std::map<std::string, Shape> all = {{"query.weight", {options.hidden_dim, options.query_dim}},
                                        {"key.weight", {options.hidden_dim, options.key_dim}},
                                        {"value.weight", {1, options.hidden_dim}}};
    if (options.bias == Bias::required) {
      all.insert({{"query.bias", {options.hidden_dim}}, {"key.bias", {options.hidden_dim}}, {"value.bias", {1}}});
    }
    return all;
  }
};

}  // namespace lessons
