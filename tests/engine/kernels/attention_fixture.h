#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "encdec/engine/kernels/attention.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace encdec::kernels {

using reference::Mask;
using reference::Matrix;

inline constexpr std::array kHeadDims = {1, 5, 8, 16, 33, 64, 80, 128};

// Sizes and options of the attention of one head.
struct HeadCase {
  int queries;
  int keys;
  int head_dim;
  int value_dim = 0;  // 0: head_dim
  Mask mask = Mask::none;
  int window = -1;  // -1: no window
  std::optional<int> ahead = {};
  int bias_reach = 0;  // 0: no biases of distances
  QuerySet set = QuerySet::some;
};

inline std::string describe(const HeadCase& c) {
  return fmt::format("{} queries, {} keys, head_dim {}, value_dim {}, causal {}, window {}, ahead {}, reach {}, set {}",
                     c.queries, c.keys, c.head_dim, c.value_dim, c.mask == Mask::causal, c.window, c.ahead.value_or(-1),
                     c.bias_reach, static_cast<int>(c.set));
}

// Returns cases of every size and with every option.
inline std::vector<HeadCase> head_cases() {
  std::vector<HeadCase> cases;
  for (const int head_dim : kHeadDims) {
    for (int keys = 1; keys <= 70; keys += head_dim == 16 || head_dim == 5 ? 1 : 7) {
      cases.push_back({1 + keys % 6, keys, head_dim});
    }
    for (const int keys : {15, 16, 33, 100}) {
      for (const int queries : {11, 16, 19, 21, 40}) cases.push_back({queries, keys, head_dim});
    }
    cases.push_back({9, 500, head_dim});
    for (const int queries : {1, 2, 5, 17, 19, 40}) {
      for (const int past : {0, 1, 20, 30}) {
        cases.push_back({.queries = queries, .keys = queries + past, .head_dim = head_dim, .mask = Mask::causal});
      }
    }
    for (const int rows : {1, 15, 16, 17, 19, 40, 100}) {
      for (const Mask mask : {Mask::none, Mask::causal}) {
        cases.push_back({.queries = rows, .keys = rows, .head_dim = head_dim, .mask = mask, .set = QuerySet::all});
      }
    }
    for (const int queries : {1, 6, 40}) {
      for (const int key_dim : {1, 8, 33}) cases.push_back({queries, 41, key_dim, head_dim});
    }
  }
  for (const int window : {0, 1, 7, 40, 1000}) {
    for (const int queries : {1, 6, 16, 37, 100}) {
      for (const int past : {0, 31, -3}) {  // -3: the first queries may see no keys
        for (const auto& [mask, ahead] :
             {std::pair(Mask::none, std::optional<int>()), {Mask::causal, {}}, {Mask::none, 0}, {Mask::none, 11}}) {
          cases.push_back({.queries = queries,
                           .keys = std::max(0, queries + past),
                           .head_dim = past == 0 ? 5 : 64,
                           .mask = mask,
                           .window = window,
                           .ahead = ahead});
        }
      }
    }
  }
  for (const int reach : {1, 3, 20}) {
    for (const int keys : {1, 2, 7, 16, 37, 70}) {
      cases.push_back({.queries = keys, .keys = keys, .head_dim = 16, .bias_reach = reach});
      cases.push_back(
          {.queries = std::min(keys, 5), .keys = keys, .head_dim = 16, .mask = Mask::causal, .bias_reach = reach});
    }
  }
  for (const Mask mask : {Mask::none, Mask::causal}) {
    for (const int keys : {0, 2}) cases.push_back({.queries = 5, .keys = keys, .head_dim = 20, .mask = mask});
  }
  return cases;
}

struct Operands : HeadCase {
  Tensor query;
  Tensor key;
  Tensor value;
  Tensor bias;

  explicit Operands(const HeadCase& c, std::uint64_t seed = 1, double query_limit = 1.0) : HeadCase(c) {
    RandomTensors random(seed);
    query = random.uniform({queries, head_dim}, query_limit);
    key = random.uniform({keys, head_dim});
    value = random.uniform({keys, value_dim == 0 ? head_dim : value_dim});
    bias = random.uniform({2 * bias_reach + 1}, 3.0);
  }

  Matrix expected() const {
    reference::ScoreOptions options{.mask = mask, .window = window, .ahead = ahead.value_or(-1)};
    if (bias_reach > 0) {
      options.bias = [this](int, std::int64_t distance) -> double {
        return bias.data<float>()[std::clamp<std::int64_t>(distance, -bias_reach, bias_reach) + bias_reach];
      };
    }
    return attention(Matrix(query), Matrix(key), Matrix(value), options);
  }

  HeadAttention head(Tensor& output) const {
    const auto width = static_cast<std::ptrdiff_t>(query.width());
    const int before = window < 0 ? KeyLimits().before : window;
    return {.query = query.data<float>(),
            .query_stride = width,
            .output = output.data<float>(),
            .output_stride = static_cast<std::ptrdiff_t>(output.width()),
            .keys = {key.data<float>(), width, nullptr},
            .values = {value.data<float>(), static_cast<std::ptrdiff_t>(value.width()), nullptr},
            .query_count = static_cast<int>(query.shape()[0]),
            .key_count = static_cast<int>(key.shape()[0]),
            .head_dim = static_cast<int>(width),
            .value_dim = static_cast<int>(value.width()),
            .scale = 1.0f / std::sqrt(static_cast<float>(width)),
            .limits = {.before = before, .after = mask == Mask::causal ? 0 : ahead.value_or(before)},
            .queries = set,
            .relative_bias = bias_reach > 0 ? bias.data<float>() + bias_reach : nullptr,
            .bias_reach = bias_reach};
  }

  Tensor output() const {
    Tensor output = Tensor::allocate({query.shape()[0], value.width()});
    std::fill_n(output.data<float>(), output.elements(), std::numeric_limits<float>::quiet_NaN());
    return output;
  }

  Tensor run() const {
    Tensor found = output();
    return run(head(found), found);
  }

  // Runs with exactly the scratch memory that attention_scratch() asks for.
  static Tensor run(const HeadAttention& head, Tensor& output) {
    std::vector<float> scratch(attention_scratch(head), std::numeric_limits<float>::quiet_NaN());
    attend(head, scratch.data());
    return output;
  }
};

}  // namespace encdec::kernels
