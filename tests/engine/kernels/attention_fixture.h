#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "encdec/engine/kernels/attention.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace encdec::kernels {

using reference::Mask;
using reference::Matrix;

inline constexpr std::array kHeadDims = {1, 5, 8, 16, 33, 64, 80, 128};

struct Operands {
  Tensor query;
  Tensor key;
  Tensor value;
  Mask mask = Mask::none;
  int window = -1;  // -1: no window
  std::optional<int> ahead = {};
  bool all_queries_in_one_call = false;

  Operands(std::uint64_t seed, int queries, int keys, int head_dim, double query_limit = 1.0) {
    RandomTensors random(seed);
    query = random.uniform({queries, head_dim}, query_limit);
    key = random.uniform({keys, head_dim});
    value = random.uniform({keys, head_dim});
  }

  Matrix expected() const {
    return attention(Matrix(query), Matrix(key), Matrix(value),
                     {.mask = mask, .window = window, .ahead = ahead.value_or(-1)});
  }

  KeyLimits limits() const {
    const int before = window < 0 ? KeyLimits().before : window;
    return {.before = before, .after = mask == Mask::causal ? 0 : ahead.value_or(before)};
  }

  HeadAttention head(Tensor& output) const {
    const auto width = static_cast<std::ptrdiff_t>(query.width());
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
            .limits = limits(),
            .queries = all_queries_in_one_call ? QuerySet::all : QuerySet::some};
  }

  Tensor run() const {
    Tensor output = Tensor::allocate({query.shape()[0], value.width()});
    return run(head(output), output);
  }

  // Runs with exactly the scratch memory that attention_scratch() asks for.
  static Tensor run(const HeadAttention& head, Tensor& output) {
    std::vector<float> scratch(attention_scratch(head), std::numeric_limits<float>::quiet_NaN());
    attend(head, scratch.data());
    return output;
  }
};

}  // namespace encdec::kernels
