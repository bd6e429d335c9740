#include "encdec/layers/transformer/frame_embedding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/layers/layer_contract.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

using reference::Matrix;

std::vector<LayerCase> frame_cases() {
  constexpr Dim kFrame = 7, kPerRow = 2, kWidth = 5;
  RandomTensors random(1);
  LayerCase c{
      .name = "frames of 7",
      .weights = {{"compression.log_k", random.uniform({1})}, {"linear.weight", random.uniform({kWidth, kFrame})}},
      .make =
          [](const WeightScope& weights) {
            return std::make_shared<FrameEmbedding>(
                weights, FrameEmbeddingOptions{.frame = kFrame, .frames_per_row = kPerRow, .model_dim = kWidth});
          },
      .inputs = {random.uniform({9, kPerRow * kFrame})},
      .expected =
          [](const LayerCase& one) {
            Matrix scale(1, kFrame);
            std::ranges::fill(scale.values, std::exp(reference::element(one.weights.at("compression.log_k"), 0)));
            Matrix x = layer_norm(Matrix(one.inputs[0]).reshaped(kFrame), scale, Matrix(1, kFrame), 1e-6);
            for (double& value : x.values) value = std::asinh(value);
            for (double& error : x.errors) error += 0x1p-22;  // asinh is off by less than 2 units
            return reference::silu(linear(x, Matrix(one.weights.at("linear.weight")), nullptr))
                .reshaped(kPerRow * kWidth);
          },
      .refused = {{{}, "0 inputs, expected 1"}, {{{3, 7}}, "samples has shape [3, 7], expected [rows, 14]"}}};
  std::fill_n(c.inputs[0].row(2), kFrame, 0.0F);
  return {c};
}
INSTANTIATE_TEST_SUITE_P(FrameEmbedding, LayerContract, testing::Values(&frame_cases));

}  // namespace
}  // namespace encdec
