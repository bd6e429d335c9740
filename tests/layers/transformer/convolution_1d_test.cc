#include "encdec/layers/transformer/convolution_1d.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "encdec/engine/base/error.h"
#include "tests/layers/layer_contract.h"
#include "tests/support/message_of.h"
#include "tests/support/random_tensors.h"
#include "tests/support/weights_builder.h"

namespace encdec {
namespace {

using reference::Matrix;

LayerCase convolution_case(const Convolution1dOptions& options, const std::vector<int>& rows) {
  RandomTensors random(1);
  const Dim inputs = options.input_width, outputs = options.output_width;
  LayerCase c{
      .name = fmt::format("{} to {}, kernel {}, stride {}, {} sequences", inputs, outputs, options.kernel,
                          options.stride, rows.size()),
      .make = [=](const WeightScope& weights) { return std::make_shared<Convolution1d>(weights, options); },
      .inputs = {random.uniform({std::accumulate(rows.begin(), rows.end(), 0), options.positions_per_row * inputs})},
      .rows = rows,
      .expected =
          [=](const LayerCase& one) {
            const auto bias = one.weights.find("bias");
            const Matrix shift = bias == one.weights.end() ? Matrix(1, outputs) : Matrix(bias->second);
            const Matrix y = convolution_1d(Matrix(one.inputs[0]).reshaped(inputs), one.weights.at("weight"), &shift,
                                            options.stride, options.padding);
            return activate(options.activation, y).reshaped(options.positions_per_row / options.stride * outputs);
          }};
  c.weights["weight"] =
      random.uniform({outputs, inputs, options.kernel}, std::sqrt(3.0 / static_cast<double>(inputs * options.kernel)));
  if (options.bias != Bias::none) c.weights["bias"] = random.uniform({outputs}, 0.5);
  return c;
}

std::vector<LayerCase> convolution_cases() {
  std::vector<LayerCase> cases;
  struct Window {
    Dim kernel, stride, positions_per_row;
  };
  for (const auto& [width, outputs] : {std::pair<Dim, Dim>{1, 1}, {7, 3}, {16, 33}, {64, 64}}) {
    for (const Window& window : {Window{1, 1, 1}, {3, 3, 3}, {3, 1, 2}, {5, 2, 4}, {11, 7, 7}}) {
      for (const std::vector<int>& rows : {std::vector{1}, {9}, {4, 0, 13, 3}}) {
        for (const Bias bias : {Bias::required, Bias::none}) {
          cases.push_back(convolution_case({.input_width = width,
                                            .output_width = outputs,
                                            .kernel = window.kernel,
                                            .stride = window.stride,
                                            .padding = window.kernel / 2,
                                            .bias = bias,
                                            .activation = bias == Bias::none ? Activation::gelu : Activation::identity,
                                            .positions_per_row = window.positions_per_row},
                                           rows));
        }
      }
    }
  }
  cases.push_back(convolution_case(
      {.input_width = 64, .output_width = 40, .kernel = 5, .stride = 3, .positions_per_row = 3}, {34, 1, 3, 12}));
  cases.push_back(convolution_case(
      {.input_width = 5, .output_width = 9, .kernel = 5, .stride = 2, .padding = 4, .positions_per_row = 4}, {42}));
  cases.back().stream_delay = 0;
  cases.back().refused = {{{}, "0 inputs, expected 1"}, {{{3, 5}}, "positions has shape [3, 5], expected [rows, 20]"}};
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Convolution1d, LayerContract, testing::Values(&convolution_cases));

TEST(Convolution1d, RefusesAWindowThatSkipsPositions) {
  struct Row {
    Dim kernel, stride, padding;
    const char* message;
  };
  for (const Row& row : {Row{2, 3, 0, "kernel 2 and stride 3, expected 1 <= stride <= kernel"},
                         {3, 0, 0, "kernel 3 and stride 0, expected 1 <= stride <= kernel"},
                         {-1, -2, 0, "kernel -1 and stride -2, expected 1 <= stride <= kernel"},
                         {3, 1, 3, "kernel 3 and padding 3, expected 0 <= padding < kernel"},
                         {3, 1, -1, "kernel 3 and padding -1, expected 0 <= padding < kernel"}}) {
    EXPECT_EQ(message_of<ConfigError>([&] {
                Convolution1d(make_scope({}), {.input_width = 3,
                                               .output_width = 2,
                                               .kernel = row.kernel,
                                               .stride = row.stride,
                                               .padding = row.padding});
              }),
              std::string("convolution_1d: ") + row.message);
  }
}

}  // namespace
}  // namespace encdec
