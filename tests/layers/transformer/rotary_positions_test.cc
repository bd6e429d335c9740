#include "encdec/layers/transformer/rotary_positions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "encdec/engine/base/error.h"
#include "encdec/layers/transformer/masked_decoder_attention.h"
#include "encdec/layers/transformer/multi_head_attention.h"
#include "tests/layers/attention_fixture.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

using reference::Matrix;

// Turns the rows of a projection as the paper does, pair by pair; the first row has position 0.
Matrix rotated(Matrix rows, int heads, const RotaryOptions& options) {
  const std::int64_t head_dim = rows.columns / heads;
  const auto width = static_cast<std::int64_t>(options.share * static_cast<double>(head_dim));
  const std::int64_t half = (width + 1) / 2, step = options.neighbours ? 2 : 1, other = options.neighbours ? 1 : half;
  double base = options.base;
  if (rows.rows > options.trained_positions) {
    const double times = static_cast<double>(rows.rows) / options.trained_positions;
    base *= std::pow(options.growth * times - (options.growth - 1),
                     static_cast<double>(width) / static_cast<double>(width - 2));
  }
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    for (int head = 0; head < heads; ++head) {
      for (std::int64_t i = 0; i < half; ++i) {
        const double angle = static_cast<double>(r) * options.scale *
                             std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(width));
        double& x = rows.at(r, head * head_dim + i * step);
        double& y = rows.at(r, head * head_dim + i * step + other);
        const double first = x, second = y;
        x = first * std::cos(angle) - second * std::sin(angle);
        y = second * std::cos(angle) + first * std::sin(angle);
      }
    }
  }
  return rows;
}

std::vector<LayerCase> rotary_cases() {
  RandomTensors random(1);
  std::vector<LayerCase> cases;
  for (const AttentionSizes& sizes : {AttentionSizes{6, 3}, {16, 2}, {96, 3}, {10, 2, 16}}) {
    for (const RotaryOptions& rotary : {RotaryOptions{.base = 10000},
                                        {.base = 50, .share = 0.9, .neighbours = true},
                                        {.base = 50, .share = 0.5, .neighbours = true},
                                        {.base = 50, .scale = 0.7f},
                                        {.base = 50, .growth = 2.5f, .trained_positions = 7}}) {
      AttentionOptions options = options_for(sizes);
      options.rotary = rotary;
      LayerCase& c = cases.emplace_back();
      c.name = "D " + std::to_string(sizes.model_dim) + ", base " + std::to_string(rotary.base) + ", growth " +
               std::to_string(rotary.growth);
      c.weights = attention_weights(random, options);
      c.make = [options](const WeightScope& weights) { return std::make_shared<MultiHeadAttention>(weights, options); };
      c.rows = {7, 1, 12};
      c.inputs = {random.uniform({20, sizes.model_dim})};
      c.expected = [options](const LayerCase& self) {
        return of_each_sequence(self.inputs[0], self.rows, [&](const Matrix& x) {
          const Matrix query = rotated(project(self.weights, "query", x), options.heads, options.rotary);
          const Matrix key = rotated(project(self.weights, "key", x), options.heads, options.rotary);
          return project(self.weights, "output",
                         multi_head_attention(query, key, project(self.weights, "value", x), options.heads,
                                              {.mask = reference::Mask::none}));
        });
      };
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(RotaryPositions, LayerContract, testing::Values(&rotary_cases));

// A decoder rotates a key before it caches it, so a step has the same positions as the whole target.
TEST(RotaryPositions, AStepOfADecoderEqualsTheWholeTarget) {
  RandomTensors random(2);
  AttentionOptions options = options_for({16, 2});
  options.rotary = {.base = 100};
  const auto weights = attention_weights(random, options);
  const Tensor x = random.uniform({6, 16});
  const auto make = [&] {
    return LayerRunner(std::make_shared<MaskedDecoderAttention>(make_scope(weights), options),
                       std::vector<Shape>{{kTargetRows, 16}});
  };
  LayerRunner whole = make(), steps = make();
  std::vector<Sequence> sequences = packed(std::vector{6});
  whole.open_slots(sequences);
  const Tensor expected = whole.run(std::vector{x}, sequences);
  std::vector<Sequence> step{{.first_row = 0, .rows = 1, .slot = steps.state().cache_index.open()}};
  for (int i = 0; i < 6; ++i) {
    step[0].past = i;
    steps.state().cache_index.append(step[0].slot, 1);
    EXPECT_TRUE(is_close_to(Matrix(expected.slice(i, 1)), steps.run(std::vector{x.slice(i, 1)}, step))) << i;
  }
}

TEST(RotaryPositions, HeadsMustHaveAnEvenWidth) {
  EXPECT_EQ(message_of<ShapeError>([] { RotaryPositions({.base = 10}, 5); }),
            "rotary positions for heads of 5, expected an even width");
  // 7 of 8 numbers give frequencies to 4 pairs; 7 of 7 cannot.
  RotaryPositions({.base = 10, .share = 0.9, .neighbours = true}, 8);
  EXPECT_THROW(RotaryPositions({.base = 10, .neighbours = true}, 7), ShapeError);
  EXPECT_THROW(RotaryPositions({.base = 10, .share = 0.9}, 8), ShapeError);
}

}  // namespace
}  // namespace encdec
