#include "encdec/layers/transformer/linear.h"

#include <algorithm>
#include <vector>

#include "encdec/engine/kernels/activation.h"
#include "encdec/engine/row_sharing.h"
#include "encdec/layers/transformer/expectations.h"

namespace encdec {

Tensor bias_of(const WeightScope& weights, Bias bias, Dim width) {
  const bool is_there = bias == Bias::required || (bias == Bias::optional && weights.has("bias"));
  return is_there ? weights.tensor("bias", {width}) : Tensor();
}

namespace {

// Packs the weights of several scopes as one matmul. The matmul has a bias if any scope has a bias.
MatMul pack(std::span<const WeightScope> scopes, const LinearOptions& options, std::span<const Bias> kinds,
            std::span<const Dim> widths) {
  std::vector<WeightMatrix> weights;
  std::vector<Tensor> biases;
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    const Dim width = widths.empty() ? options.output_width : widths[i];
    weights.push_back(scopes[i].matrix("weight", {width, options.input_width}));
    biases.push_back(bias_of(scopes[i], kinds.empty() ? options.bias : kinds[i], width));
  }
  if (std::ranges::all_of(biases, &Tensor::empty)) biases.clear();
  return {weights, biases, {scopes.front().pack(), options.activation, options.residual}};
}

}  // namespace

Linear::Linear(const WeightScope& weights, const LinearOptions& options) : Linear(std::span(&weights, 1), options) {}

Linear::Linear(std::span<const WeightScope> weights, const LinearOptions& options, std::span<const Bias> biases,
               std::span<const Dim> output_widths)
    : matmul_(pack(weights, options, biases, output_widths)),
      residual_(options.residual),
      input_scale_(options.input_scale),
      output_cap_(options.output_cap) {}

Shape Linear::output_shape(Shapes inputs) const {
  return shape_of_rows(inputs, input_width(), output_width(), residual_);
}

void Linear::forward(Inputs inputs, Tensor& output, RunState& state) const {
  apply(inputs[0], residual_ == Residual::add ? &inputs[1] : nullptr, output, state);
}

void Linear::apply(const Tensor& input, const Tensor* residual, Tensor& output, RunState& state) const {
  if (input_scale_ == 1.0f) {
    matmul_.forward(input, residual, output, state);
  } else {
    Tensor scaled = state.scratch(input.shape());
    for (Dim i = 0; i < input.elements(); ++i) scaled.data<float>()[i] = input.data<float>()[i] * input_scale_;
    // The residual is not scaled.
    matmul_.forward(scaled, residual, output, state);
  }
  if (output_cap_ == 0) return;
  for_each_row(output, state.team(),
               [&](int row) { kernels::cap(output_cap_, output.row(row), static_cast<int>(output.width())); });
}

}  // namespace encdec
