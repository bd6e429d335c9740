#include "encdec/layers/transformer/group_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "encdec/engine/base/error.h"
#include "tests/layers/layer_contract.h"
#include "tests/support/layer_runner.h"
#include "tests/support/message_of.h"
#include "tests/support/random_tensors.h"
#include "tests/support/weights_builder.h"

namespace encdec {
namespace {

using reference::Matrix;

constexpr Dim kChannels = 5, kPerRow = 3;

Tensor lengths_of(std::vector<std::int32_t> lengths) {
  Tensor tensor = Tensor::allocate({static_cast<Dim>(lengths.size())}, DataType::int32);
  std::ranges::copy(lengths, tensor.data<std::int32_t>());
  return tensor;
}

// Normalises the positions of one sequence. Later positions are normalised with the same mean and variance.
Matrix normalized(const LayerCase& one) {
  Matrix y = Matrix(one.inputs[0]).reshaped(kChannels);
  const Matrix weight(one.weights.at("weight")), bias(one.weights.at("bias"));
  const Dim count = kChannels * one.inputs[1].data<std::int32_t>()[0];
  double mean = 0, variance = 0;
  for (Dim i = 0; i < count; ++i) mean += y.values[static_cast<std::size_t>(i)] / static_cast<double>(count);
  for (Dim i = 0; i < count; ++i) {
    variance += std::pow(y.values[static_cast<std::size_t>(i)] - mean, 2) / static_cast<double>(count);
  }
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    const auto channel = static_cast<Dim>(i) % kChannels;
    const double factor = weight.at(0, channel) / std::sqrt(variance + 1e-5);
    // The layer rounds the mean, the divisor, and each of four operations.
    y.errors[i] =
        0x1p-24 * (4 * std::abs(factor) * (std::abs(y.values[i]) + std::abs(mean)) + 2 * std::abs(bias.at(0, channel)));
    y.values[i] = (y.values[i] - mean) * factor + bias.at(0, channel);
  }
  return y.reshaped(kPerRow * kChannels);
}

std::vector<LayerCase> group_norm_cases() {
  std::vector<LayerCase> cases;
  RandomTensors random(1);
  for (const auto& [rows, lengths] :
       {std::pair<std::vector<int>, std::vector<std::int32_t>>{{2, 4}, {5, 10}}, {{2000, 1000}, {5990, 2000}}}) {
    cases.push_back({.name = std::to_string(rows[0]) + " rows",
                     .weights = {{"weight", random.uniform({kChannels}, 2.0)}, {"bias", random.uniform({kChannels})}},
                     .make =
                         [](const WeightScope& weights) {
                           return std::make_shared<GroupNorm>(
                               weights, GroupNormOptions{.channels = kChannels, .positions_per_row = kPerRow});
                         },
                     .inputs = {random.uniform({rows[0] + rows[1], kPerRow * kChannels}, 3.0), lengths_of(lengths)},
                     .rows = rows,
                     .input_kinds = {RowKind::rows, RowKind::sequences},
                     .expected = normalized,
                     .refused = {{{{2, 15}}, "1 inputs, expected 2"},
                                 {{{2, 14}, {1}}, "positions has shape [2, 14], expected [rows, 15]"}}});
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(GroupNorm, LayerContract, testing::Values(&group_norm_cases));

TEST(GroupNorm, LengthsMustFitTheRows) {
  const LayerCase c = group_norm_cases()[0];
  LayerRunner runner(c.make(make_scope(c.weights)), std::vector<Shape>{{kSourceRows, kPerRow * kChannels}, {kBatch}}, 1,
                     {DataType::float32, DataType::int32});
  const auto message = [&](const std::vector<std::int32_t>& lengths) {
    return message_of<InputError>([&] {
      runner.run(std::array{c.inputs[0].slice(0, 2), lengths_of(lengths)}, packed(std::array{2}));
    });
  };
  EXPECT_EQ(message({7}), "a sequence of 7 positions in 2 rows, expected 1 to 6");
  EXPECT_EQ(message({0}), "a sequence of 0 positions in 2 rows, expected 1 to 6");
  EXPECT_EQ(message({1, 1}), "2 lengths, expected one for each of 1 sequences");
}

}  // namespace
}  // namespace encdec
