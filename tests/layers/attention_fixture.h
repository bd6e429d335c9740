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

// Returns random weights of all four projections, query [H*K, D], key and value [G*K, D] with G key/value heads,
// output [D, H*K], and of the positions that the options have.
inline std::map<std::string, Tensor> attention_weights(RandomTensors& random, const AttentionOptions& options) {
  const Dim model_dim = options.model_dim, inner = options.inner_dim();
  // With this limit outputs are about as large as inputs, so that scores differ but the largest does not hide the
  // others.
  const double limit = std::sqrt(3.0 / static_cast<double>(model_dim));
  std::map<std::string, Tensor> weights;
  for (const std::string name : {"query", "key", "value"}) {
    const Dim outputs = name == "query" ? inner : options.key_value_dim();
    weights[name + ".weight"] = random.uniform({outputs, model_dim}, limit);
    weights[name + ".bias"] = random.uniform({outputs}, 0.5);
  }
  for (const std::string name : {"query_norm", "key_norm"}) {
    if (options.head_norm) weights[name + ".weight"] = random.uniform({options.head_width()}, 2.0);
  }
  weights["output.weight"] = random.uniform({model_dim, inner}, limit);
  weights["output.bias"] = random.uniform({model_dim}, 0.5);
  if (const int buckets = options.relative_positions.buckets; buckets > 0) {
    weights["relative_position_bias.weight"] = random.uniform({buckets, options.heads}, 2.0);
  }
  if (const DisentangledOptions& positions = options.disentangled_positions; positions.span > 0) {
    weights["distance_embedding.weight"] = random.uniform({2 * positions.span, model_dim});
    for (const char* part : {"weight", "bias"}) {
      weights[std::string("distance_embedding_norm.") + part] = random.uniform({model_dim});
    }
    for (const std::string name : {"distance_key", "distance_query"}) {
      weights[name + ".weight"] = random.uniform({inner, model_dim}, limit);
      weights[name + ".bias"] = random.uniform({inner}, 0.5);
    }
  }
  return weights;
}

inline reference::Matrix project(const std::map<std::string, Tensor>& weights, const std::string& name,
                                 const reference::Matrix& x) {
  const reference::Matrix bias(weights.at(name + ".bias"));
  return linear(x, reference::Matrix(weights.at(name + ".weight")), &bias);
}

// Turns the rows of a projection pair by pair (Su et al. 2021); the first row has position 0.
inline reference::Matrix rotated(reference::Matrix rows, Dim head_dim, const RotaryOptions& options) {
  const auto width = static_cast<std::int64_t>(options.share * static_cast<double>(head_dim));
  const std::int64_t half = (width + 1) / 2, step = options.neighbours ? 2 : 1, other = options.neighbours ? 1 : half;
  double base = options.base;
  if (rows.rows > options.trained_positions) {
    const double times = static_cast<double>(rows.rows) / options.trained_positions;
    base *= std::pow(options.growth * times - (options.growth - 1),
                     static_cast<double>(width) / static_cast<double>(width - 2));
  }
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    for (std::int64_t first = 0; first < rows.columns; first += head_dim) {
      for (std::int64_t i = 0; i < half; ++i) {
        const double angle = static_cast<double>(r) * options.scale *
                             std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(width));
        double& x = rows.at(r, first + i * step);
        double& y = rows.at(r, first + i * step + other);
        const double old = x;
        x = old * std::cos(angle) - y * std::sin(angle);
        y = y * std::cos(angle) + old * std::sin(angle);
      }
    }
  }
  return rows;
}

// Returns columns in which each head of a projection stands `times` times.
inline reference::Matrix repeated(const reference::Matrix& rows, Dim head_dim, int times) {
  reference::Matrix result(rows.rows, 0);
  for (std::int64_t first = 0; first < rows.columns; first += head_dim) {
    for (int i = 0; i < times; ++i) result = beside(result, rows.slice_columns(first, head_dim));
  }
  return result;
}

// Returns a projection as scores and sums take it: normalised and turned.
inline reference::Matrix project_heads(const std::map<std::string, Tensor>& weights, const std::string& name,
                                       const reference::Matrix& x, const AttentionOptions& options) {
  const Dim head_dim = options.head_width();
  reference::Matrix rows = project(weights, name, x);
  if (name == "value") return rows;
  if (options.head_norm) {
    const Dim columns = rows.columns;
    const reference::Matrix weight(weights.at(name + "_norm.weight"));
    rows = rms_norm(rows.reshaped(head_dim), weight, options.head_norm->epsilon).reshaped(columns);
  }
  return options.rotary.base == 0 ? rows : rotated(rows, head_dim, options.rotary);
}

// Returns the attention of one sequence to itself.
inline reference::Matrix attend_to_itself(const std::map<std::string, Tensor>& weights, const reference::Matrix& x,
                                          const AttentionOptions& options, reference::Mask mask) {
  const Dim head_dim = options.head_width();
  const auto projected = [&](const std::string& name) { return project_heads(weights, name, x, options); };
  reference::ScoreOptions scores{.mask = mask, .scale = options.score_scale, .cap = options.score_cap};
  if (options.limits.before <= x.rows) scores.window = options.limits.before;
  if (options.limits.after <= x.rows) scores.ahead = options.limits.after;
  if (options.relative_positions.buckets > 0) {
    const reference::Matrix biases(weights.at("relative_position_bias.weight"));
    scores.bias = [biases, &options](int head, std::int64_t distance) {
      return biases.at(relative_position_bucket(static_cast<int>(distance), options.relative_positions), head);
    };
  }
  return project(
      weights, "output",
      multi_head_attention(projected("query"), repeated(projected("key"), head_dim, options.heads_per_key()),
                           repeated(projected("value"), head_dim, options.heads_per_key()), options.heads, scores));
}

using MakeAttention = std::function<std::shared_ptr<const Layer>(const WeightScope&, const AttentionOptions&)>;
template <class Attention>
std::shared_ptr<const Layer> make_attention(const WeightScope& weights, const AttentionOptions& options) {
  return std::make_shared<Attention>(weights, options);
}

// Returns a case of the self-attention that `make` makes.
inline LayerCase self_attention_case(const MakeAttention& make, const AttentionOptions& options,
                                     const std::vector<int>& rows, reference::Mask mask) {
  RandomTensors random(1);
  LayerCase c{.name = "D " + std::to_string(options.model_dim) + ", heads " + std::to_string(options.heads) +
                      ", rows " + testing::PrintToString(rows),
              .weights = attention_weights(random, options),
              .make = [make, options](const WeightScope& weights) { return make(weights, options); },
              .rows = rows,
              .expected =
                  [options, mask](const LayerCase& one) {
                    const reference::Matrix y =
                        attend_to_itself(one.weights, reference::Matrix(one.inputs[0]), options, mask);
                    return one.inputs.size() == 2 ? add(y, reference::Matrix(one.inputs[1])) : y;
                  }};
  const Dim total = std::accumulate(rows.begin(), rows.end(), Dim{0});
  while (c.inputs.size() < (options.residual == Residual::add ? 2 : 1)) {
    c.inputs.push_back(random.uniform({total, options.model_dim}));
  }
  return c;
}

// Returns cases of self-attention with every size.
inline std::vector<LayerCase> self_attention_cases(const MakeAttention& make, reference::Mask mask,
                                                   const kernels::KeyLimits& limits = {}) {
  std::vector<LayerCase> cases;
  const auto add_case = [&](const AttentionSizes& sizes, const std::vector<int>& rows, Residual residual) {
    AttentionOptions options = options_for(sizes, residual);
    options.limits = limits;
    cases.push_back(self_attention_case(make, options, rows, mask));
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
  cases.back().refused = {{{}, "0 inputs, expected at least 1"},
                          {{{4, 11}}, "input has shape [4, 11], expected [rows, 10]"},
                          {{{4, 10}, {4, 10}}, "2 inputs, expected 1"}};
  add_case({10, 2}, {1}, Residual::add);
  cases.back().refused = {{{{4, 10}}, "1 inputs, expected 2"},
                          {{{4, 10}, {5, 10}}, "residual has shape [5, 10], expected [4, 10]"}};
  return cases;
}

// Returns the rows of sources as CrossAttentionKeyValues lays them out, a head's row in each row of the result.
inline reference::Matrix heads_of(const Tensor& key_values, const AttentionOptions& options) {
  const Dim heads = options.heads / options.heads_per_key();
  return reference::Matrix(key_values.reshape({2 * heads * key_values.rows(), options.head_width()}));
}

// Returns a case of an attention to the rows of sources, without weights and formula.
template <class Attention>
LayerCase source_reader_case(RandomTensors& random, const AttentionOptions& options, std::vector<int> target_rows,
                             std::vector<int> source_rows) {
  const Dim targets = std::accumulate(target_rows.begin(), target_rows.end(), Dim{0});
  const Dim sources = std::accumulate(source_rows.begin(), source_rows.end(), Dim{0});
  return {
      .name = "D " + std::to_string(options.model_dim) + ", target rows " + testing::PrintToString(target_rows) +
              ", source rows " + testing::PrintToString(source_rows),
      .make = [options](const WeightScope& weights) { return make_attention<Attention>(weights, options); },
      .inputs = {random.uniform({targets, options.model_dim}), random.uniform({sources, 2 * options.key_value_dim()})},
      .rows = std::move(target_rows),
      .source_rows = std::move(source_rows),
      .input_kinds = {RowKind::rows, RowKind::source},
      .in_steps = true};
}

}  // namespace encdec
