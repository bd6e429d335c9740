#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "encdec/layers/transformer/attention_heads.h"
#include "tests/layers/layer_contract.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"
#include "tests/support/weights_builder.h"

namespace encdec {

struct AttentionSizes {
  Dim model_dim;
  int heads;
  Dim head_dim = 0;  // 0: model_dim / heads
};

// Sizes of 1, primes, odd head sizes, heads that together are wider or narrower than the model, and whole panels.
inline constexpr std::array kAttentionSizes = {
    AttentionSizes{1, 1},      AttentionSizes{6, 3},     AttentionSizes{7, 1},  AttentionSizes{15, 5},
    AttentionSizes{16, 2},     AttentionSizes{20, 3, 5}, AttentionSizes{33, 1}, AttentionSizes{64, 2},
    AttentionSizes{10, 2, 16}, AttentionSizes{96, 3},    AttentionSizes{67, 1},
};

inline AttentionOptions options_for(const AttentionSizes& sizes, Residual residual = Residual::none) {
  return {.model_dim = sizes.model_dim, .heads = sizes.heads, .head_dim = sizes.head_dim, .residual = residual};
}

// Returns random weights of all four projections: query, key, value [H*K, D] and output [D, H*K].
inline std::map<std::string, Tensor> attention_weights(RandomTensors& random, const AttentionOptions& options,
                                                       DataType type = DataType::float32) {
  const Dim model_dim = options.model_dim, inner = options.inner_dim();
  // With this limit outputs are about as large as inputs, so that scores differ but the largest does not hide the
  // others.
  const double limit = std::sqrt(3.0 / static_cast<double>(model_dim));
  std::map<std::string, Tensor> weights;
  for (const char* name : {"query", "key", "value"}) {
    weights[std::string(name) + ".weight"] = random.uniform({inner, model_dim}, limit, type);
    weights[std::string(name) + ".bias"] = random.uniform({inner}, 0.5, type);
  }
  weights["output.weight"] = random.uniform({model_dim, inner}, limit, type);
  weights["output.bias"] = random.uniform({model_dim}, 0.5, type);
  return weights;
}

inline std::map<std::string, Tensor> only(const std::map<std::string, Tensor>& weights,
                                          const std::vector<std::string>& names) {
  std::map<std::string, Tensor> chosen;
  for (const std::string& name : names) chosen[name] = weights.at(name);
  return chosen;
}

// Returns the attention of each packed sequence computed separately, stacked by rows.
template <class AttendOne>
reference::Matrix of_each_sequence(const Tensor& x, const std::vector<int>& rows, const AttendOne& attend_one) {
  std::vector<reference::Matrix> outputs;
  std::int64_t first = 0;
  for (const int count : rows) {
    outputs.push_back(attend_one(reference::Matrix(x).slice_rows(first, count)));
    first += count;
  }
  return reference::stack(outputs);
}

inline reference::Matrix project(const std::map<std::string, Tensor>& weights, const std::string& name,
                                 const reference::Matrix& x) {
  const reference::Matrix bias(weights.at(name + ".bias"));
  return linear(x, reference::Matrix(weights.at(name + ".weight")), &bias);
}

// Returns the attention of one sequence: its rows are the queries, the source's rows the keys and values.
inline reference::Matrix attend(const std::map<std::string, Tensor>& weights, const reference::Matrix& x,
                                const reference::Matrix& source, int heads, const reference::ScoreOptions& options) {
  return project(weights, "output",
                 multi_head_attention(project(weights, "query", x), project(weights, "key", source),
                                      project(weights, "value", source), heads, options));
}

// Returns cases of a self-attention layer with every size, for the layer that `make` makes from weights and options.
inline std::vector<LayerCase> self_attention_cases(
    const std::function<std::shared_ptr<const Layer>(const WeightScope&, const AttentionOptions&)>& make,
    const reference::ScoreOptions& scores) {
  using reference::Matrix;
  RandomTensors random(1);
  std::vector<LayerCase> cases;
  const auto add_case = [&](const AttentionSizes& sizes, const std::vector<int>& rows, Residual residual) {
    const AttentionOptions options = options_for(sizes, residual);
    LayerCase& c = cases.emplace_back();
    c.name = "D " + std::to_string(sizes.model_dim) + ", heads " + std::to_string(sizes.heads) + ", rows " +
             testing::PrintToString(rows);
    c.weights = attention_weights(random, options);
    c.make = [make, options](const WeightScope& weights) { return make(weights, options); };
    c.rows = rows;
    const Dim total = std::accumulate(rows.begin(), rows.end(), Dim{0});
    while (c.inputs.size() < (residual == Residual::add ? 2 : 1)) {
      c.inputs.push_back(random.uniform({total, sizes.model_dim}));
    }
    c.expected = [options, scores](const LayerCase& self) {
      const Matrix y = of_each_sequence(self.inputs[0], self.rows, [&](const Matrix& sequence) {
        return attend(self.weights, sequence, sequence, options.heads, scores);
      });
      return options.residual == Residual::add ? add(y, Matrix(self.inputs[1])) : y;
    };
  };
  for (const AttentionSizes& sizes : kAttentionSizes) {
    for (const std::vector<int>& rows : {std::vector{1}, {19}, {3, 1, 5}, {1, 1, 1}, {2, 0, 17}}) {
      for (const Residual residual : {Residual::none, Residual::add}) add_case(sizes, rows, residual);
    }
  }
  for (const AttentionSizes& sizes : {AttentionSizes{96, 3}, AttentionSizes{257, 1}}) {
    add_case(sizes, {3, 40, 1, 9, 17}, Residual::none);
    if (sizes.model_dim == 257) cases.back().expected = {};  // the error bound of a sum of 257 terms is too large
  }
  add_case({10, 2}, {1}, Residual::none);
  cases.back().refused = {{{}, "no input"},
                          {{{4, 11}}, "input has shape [4, 11], expected [rows, 10]"},
                          {{{4, 10}, {4, 10}}, "2 inputs, expected 1"}};
  add_case({10, 2}, {1}, Residual::add);
  cases.back().refused = {{{{4, 10}}, "1 inputs, expected 2"},
                          {{{4, 10}, {5, 10}}, "residual has shape [5, 10], expected [4, 10]"}};
  return cases;
}

}  // namespace encdec
