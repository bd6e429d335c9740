#include "encdec/layers/transformer/add_norm.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"
#include "encdec/engine/kernels/normalization.h"
#include "encdec/engine/row_sharing.h"
#include "encdec/layers/transformer/expectations.h"

namespace encdec {
namespace {

// Returns the bias of a layer norm, or zeros if the norm has no bias.
Tensor shift_of(const WeightScope& weights, const NormOptions& options) {
  const Tensor bias = bias_of(weights, options.bias, options.width);
  return bias.empty() ? Tensor::allocate({options.width}) : bias;
}

}  // namespace

Tensor scale_of(const WeightScope& weights, const NormOptions& options, Dim width) {
  Tensor scale = weights.tensor("weight", {width});
  if (options.less_one) {
    for (Dim i = 0; i < width; ++i) scale.data<float>()[i] += 1.0f;
  }
  return scale;
}

AddNorm::AddNorm(const WeightScope& weights, const NormOptions& options)
    : kind_(options.kind),
      scale_(scale_of(weights, options, options.width)),
      shift_(kind_ == NormKind::layer ? shift_of(weights, options) : Tensor()),
      epsilon_(options.epsilon),
      adds_last_(options.adds_last) {}

Shape AddNorm::output_shape(Shapes inputs) const {
  if (inputs.empty() || inputs.size() > 2) throw ShapeError(fmt::format("{} inputs, expected 1 or 2", inputs.size()));
  expect_rows(inputs[0], scale_.width(), "input");
  if (inputs.size() == 2 && inputs[1] != inputs[0]) {
    throw ShapeError(
        fmt::format("inputs have shapes {} and {}, expected equal ones", to_string(inputs[0]), to_string(inputs[1])));
  }
  return inputs[0];
}

void AddNorm::forward(Inputs inputs, Tensor& output, RunState& state) const {
  const auto normalize = kind_ == NormKind::layer ? kernels::layer_norm : kernels::rms_norm;
  for_each_row(output, state.team(), [&](int row) {
    // The second input is added either before or after the norm.
    const float* second = inputs.size() == 2 ? inputs[1].row(row) : nullptr;
    normalize({.input = inputs[0].row(row),
               .residual = adds_last_ ? nullptr : second,
               .added = adds_last_ ? second : nullptr,
               .scale = scale_.data<float>(),
               .shift = shift_.data<float>(),
               .epsilon = epsilon_,
               .width = static_cast<int>(output.width()),
               .output = output.row(row)});
  });
}

}  // namespace encdec
