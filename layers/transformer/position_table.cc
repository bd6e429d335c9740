#include "encdec/layers/transformer/position_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

using Kind = PositionOptions::Kind;

// Number of positions whose sinusoids are tabulated. Sinusoids of later positions are computed when needed.
constexpr Dim kTabulatedPositions = 1024;

// Writes a sinusoid in SinusoidLayout::timing_signal. Rounds the steps to float32, as in training.
void timing_signal(std::int64_t position, Dim model_dim, float* output) {
  const Dim half = model_dim / 2;
  const auto step = static_cast<float>(-std::log(kSinusoidBase) / static_cast<double>(std::max<Dim>(half - 1, 1)));
  for (Dim i = 0; i < half; ++i) {
    const float angle = static_cast<float>(position) * std::exp(static_cast<float>(i) * step);
    output[i] = std::sin(angle);
    output[half + i] = std::cos(angle);
  }
  if (model_dim % 2 != 0) output[model_dim - 1] = 0.0f;
}

}  // namespace

void sinusoid(std::int64_t position, SinusoidLayout layout, Dim model_dim, float* output) {
  if (layout == SinusoidLayout::timing_signal) return timing_signal(position, model_dim, output);
  // If model_dim is odd, the last sine has no cosine.
  const Dim sines = (model_dim + 1) / 2;
  for (Dim i = 0; i < sines; ++i) {
    const double exponent = 2.0 * static_cast<double>(i) / static_cast<double>(model_dim);
    const double angle = static_cast<double>(position) / std::pow(kSinusoidBase, exponent);
    const bool interleaved = layout == SinusoidLayout::interleaved;
    const Dim cosine = interleaved ? 2 * i + 1 : sines + i;
    output[interleaved ? 2 * i : i] = static_cast<float>(std::sin(angle));
    if (cosine < model_dim) output[cosine] = static_cast<float>(std::cos(angle));
  }
}

namespace {

// Returns the options. Throws ConfigError if they are invalid.
const PositionOptions& checked(const PositionOptions& options) {
  if (options.kind == Kind::none) throw ConfigError("positions: kind none, expected sinusoidal or learned");
  if (options.model_dim < 1 || options.offset < 0 || options.count < 0 || options.pad_token.value_or(0) < 0) {
    throw ConfigError(
        fmt::format("positions: width {}, {} positions, offset {}, pad token {}, expected a width of at "
                    "least 1 and no negative numbers",
                    options.model_dim, options.count, options.offset, options.pad_token.value_or(0)));
  }
  return options;
}

Tensor tabulate_sinusoids(SinusoidLayout layout, Dim model_dim) {
  Tensor table = Tensor::allocate({kTabulatedPositions, model_dim});
  for (Dim position = 0; position < kTabulatedPositions; ++position) {
    sinusoid(position, layout, model_dim, table.row(position));
  }
  return table;
}

}  // namespace

PositionTable::PositionTable(SinusoidLayout layout, Dim width)
    : options_(checked({.model_dim = width, .layout = layout})), table_(tabulate_sinusoids(layout, width)) {}

PositionTable::PositionTable(const WeightScope& weights, const PositionOptions& options)
    : options_(checked(options)),
      table_(options.kind == Kind::learned ? Tensor() : tabulate_sinusoids(options.layout, options.model_dim)) {
  if (options.kind == Kind::learned || weights.has("weight")) {
    // A stored sinusoidal table replaces the first rows of the computed one.
    Tensor stored = weights.tensor("weight", {options.count + options.offset, options.model_dim});
    if (options.kind == Kind::learned || stored.rows() >= table_.rows()) {
      table_ = std::move(stored);
    } else {
      std::copy_n(stored.data<float>(), stored.elements(), table_.data<float>());
    }
  }
  if (options.kind == Kind::sinusoidal && options.pad_token && *options.pad_token < table_.rows()) {
    std::fill_n(table_.row(*options.pad_token), options.model_dim, 0.0f);
  }
}

void PositionTable::check(Shapes inputs, Dim x_width) const {
  expect_count(inputs, options_.pad_token ? 2 : 1);
  expect_rows(inputs[0], x_width, "input");
  if (options_.pad_token && inputs[1] != Shape{inputs[0][0]}) {
    throw ShapeError(
        fmt::format("token ids have shape {}, expected {}", to_string(inputs[1]), to_string(Shape{inputs[0][0]})));
  }
}

const float* PositionTable::row(std::int64_t index, Tensor& beyond, RunState& state) const {
  if (index < table_.rows()) return table_.row(index);
  if (options_.kind == Kind::learned) {
    throw InputError(fmt::format("a sequence of more than {} tokens, but the model has {} positions", options_.count,
                                 options_.count));
  }
  if (beyond.empty()) beyond = state.scratch({table_.width()});
  if (index == options_.pad_token) {
    std::fill_n(beyond.data<float>(), table_.width(), 0.0f);
  } else {
    sinusoid(index, options_.layout, table_.width(), beyond.data<float>());
  }
  return beyond.data<float>();
}

}  // namespace encdec
