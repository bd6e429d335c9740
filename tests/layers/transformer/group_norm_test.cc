#include "encdec/layers/transformer/group_norm.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "encdec/engine/base/error.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
#include "tests/support/message_of.h"
#include "tests/support/random_tensors.h"
#include "tests/support/weights_builder.h"

namespace encdec {
namespace {

constexpr Dim kChannels = 5, kPerRow = 3;

Tensor run_group_norm(const std::map<std::string, Tensor>& weights, const Tensor& x, std::vector<int> rows,
                      std::vector<std::int32_t> lengths, int threads = 1) {
  LayerRunner runner(std::make_shared<GroupNorm>(make_scope(weights),
                                                 GroupNormOptions{.channels = kChannels, .positions_per_row = kPerRow}),
                     std::vector<Shape>{{kSourceRows, kPerRow * kChannels}, {kBatch}}, threads,
                     {DataType::float32, DataType::int32});
  const Tensor counts(lengths.data(), DataType::int32, {static_cast<Dim>(lengths.size())});
  return runner.run(std::array{x, counts}, packed(rows));
}

std::map<std::string, Tensor> group_norm_weights() {
  RandomTensors random(1);
  return {{"weight", random.uniform({kChannels}, 2.0)}, {"bias", random.uniform({kChannels})}};
}

TEST(GroupNorm, NormalisesEachSequenceOverItsPositionsAndChannels) {
  const auto weights = group_norm_weights();
  const Tensor x = RandomTensors(2).uniform({6, kPerRow * kChannels}, 3.0);
  const Tensor y = run_group_norm(weights, x, {2, 4}, {5, 10});
  for (const auto& [first, count] : {std::pair(0, 5), {6, 10}}) {  // positions
    const float* in = x.data<float>() + first * kChannels;
    const float* out = y.data<float>() + first * kChannels;
    double mean = 0, variance = 0;
    for (Dim i = 0; i < count * kChannels; ++i) mean += double{in[i]} / static_cast<double>(count * kChannels);
    for (Dim i = 0; i < count * kChannels; ++i) {
      variance += (double{in[i]} - mean) * (double{in[i]} - mean) / static_cast<double>(count * kChannels);
    }
    for (Dim i = 0; i < count * kChannels; ++i) {
      const double expected = (double{in[i]} - mean) / std::sqrt(variance + 1e-5) *
                                  double{weights.at("weight").data<float>()[i % kChannels]} +
                              double{weights.at("bias").data<float>()[i % kChannels]};
      EXPECT_NEAR(out[i], expected, 1e-5);
    }
  }
}

TEST(GroupNorm, NeighboursThreadsAndLaterPositionsDoNotChangeABit) {
  const auto weights = group_norm_weights();
  Tensor x = RandomTensors(3).uniform({3000, kPerRow * kChannels});
  const Tensor all = run_group_norm(weights, x, {2000, 1000}, {5990, 2999});
  EXPECT_TRUE(same_bits(all, run_group_norm(weights, x, {2000, 1000}, {5990, 2999}, 3)));
  EXPECT_TRUE(same_bits(all.slice(2000, 1000), run_group_norm(weights, x.slice(2000, 1000), {1000}, {2999})));
  x.row(1999)[kPerRow * kChannels - 1] = 1e6F;  // after the 5990 positions
  EXPECT_TRUE(same_bits(all.slice(0, 1990), run_group_norm(weights, x, {2000, 1000}, {5990, 2999}).slice(0, 1990)));
}

TEST(GroupNorm, LengthsMustFitTheRows) {
  const auto weights = group_norm_weights();
  const Tensor x = Tensor::allocate({2, kPerRow * kChannels});
  const auto message = [&](std::vector<std::int32_t> lengths) {
    return message_of<InputError>([&] { run_group_norm(weights, x, {2}, std::move(lengths)); });
  };
  EXPECT_EQ(message({7}), "a sequence of 7 positions in 2 rows, expected 1 to 6");
  EXPECT_EQ(message({0}), "a sequence of 0 positions in 2 rows, expected 1 to 6");
  EXPECT_EQ(message({1, 1}), "2 lengths, expected one for each of 1 sequences");
}

}  // namespace
}  // namespace encdec
