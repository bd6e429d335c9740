#include "long_inputs/local_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/layers/transformer/multi_head_attention.h"
#include "golden_layer.h"
#include "self_attention_fixture.h"
#include "tests/support/comparison.h"

namespace lessons {
namespace {

using reference::Mask;
using reference::Matrix;

Matrix expected_of(const std::map<std::string, Tensor>& weights, const LocalAttentionOptions& options, const Tensor& x,
                   const std::vector<int>& rows) {
  return of_each_sequence(x, rows, [&](const Matrix& sequence) {
    AttentionOptions attention = options.attention;
    attention.limits = {.before = options.window, .after = options.sides == WindowSides::before ? 0 : options.window};
    return attend_to_itself(weights, sequence, attention, Mask::none);
  });
}

struct LocalCase : SelfAttentionCase<LocalAttention, LocalAttentionOptions> {
  LocalCase(std::uint64_t seed, const AttentionSizes& sizes, std::vector<int> given_rows, int window,
            WindowSides sides = WindowSides::both, Residual residual = Residual::none)
      : SelfAttentionCase({.attention = options_for(sizes, residual), .window = window, .sides = sides},
                          std::move(given_rows)) {
    RandomTensors random(seed);
    weights = attention_weights(random, options.attention);
    make_inputs(random, options.attention);
  }

  Matrix expected() const { return with_residual(expected_of(weights, options, inputs[0], rows)); }
};

std::string describe(const LocalCase& c) {
  return "D " + std::to_string(c.options.attention.model_dim) + ", heads " + std::to_string(c.options.attention.heads) +
         ", window " + std::to_string(c.options.window) + ", rows " + testing::PrintToString(c.rows);
}

TEST(LocalAttention, FollowsTheFormulaForEverySize) {
  for (const AttentionSizes& sizes : kAttentionSizes) {
    for (const std::vector<int>& rows : {std::vector{1}, {7}, {3, 1, 29}, {2, 0, 17}}) {
      for (const int window : {0, 1, 5, 100}) {
        for (const WindowSides sides : {WindowSides::both, WindowSides::before}) {
          const Residual residual = window == 1 ? Residual::add : Residual::none;
          const LocalCase c(1, sizes, rows, window, sides, residual);
          for (const int threads : {1, 2}) EXPECT_TRUE(is_close_to(c.expected(), c.run(threads))) << describe(c);
        }
      }
    }
  }
}

TEST(LocalAttention, MatchesPyTorch) {
  const GoldenLayer golden("local_attention");
  for (const std::string& name : golden.cases()) {
    const auto number = [&](const char* what) { return golden.input(name, what).data<std::int32_t>()[0]; };
    const Tensor x = golden.input(name, "x"), lengths = golden.input(name, "lengths");
    const std::vector<int> rows(lengths.data<std::int32_t>(), lengths.data<std::int32_t>() + lengths.elements());
    const LocalAttentionOptions options{.attention = {.model_dim = x.width(), .heads = number("heads")},
                                        .window = number("window"),
                                        .sides = number("before_only") ? WindowSides::before : WindowSides::both};
    const WeightScope weights = golden.weights(name);
    LayerRunner runner(std::make_shared<LocalAttention>(weights, options),
                       std::vector<Shape>{{kSourceRows, x.width()}});
    const Matrix expected = expected_of(square_attention_weights(weights, x.width()), options, x, rows);
    EXPECT_TRUE(is_close_to(expected, golden.output(name, "y"))) << name;
    EXPECT_TRUE(is_close_to(expected, runner.run(std::array{x}, packed(rows)))) << name;
  }
}

TEST(LocalAttention, AWindowOfTheWholeSequenceGivesTheBitsOfFullAttention) {
  for (const AttentionSizes& sizes : {AttentionSizes{15, 5}, AttentionSizes{64, 2}}) {
    for (const int window : {39, 40, std::numeric_limits<int>::max()}) {
      const LocalCase c(2, sizes, {3, 40, 1}, window);
      LayerRunner full(std::make_shared<MultiHeadAttention>(make_scope(c.weights), c.options.attention),
                       std::vector<Shape>{{kSourceRows, sizes.model_dim}});
      EXPECT_TRUE(same_bits(full.run(c.inputs, packed(c.rows)), c.run(1))) << describe(c);
    }
  }
}

TEST(LocalAttention, RowsOutsideTheWindowDoNotChangeABit) {
  constexpr int kRows = 50, kChanged = 20;
  for (const WindowSides sides : {WindowSides::both, WindowSides::before}) {
    for (const int window : {0, 3}) {
      LocalCase c(3, {64, 2}, {kRows}, window, sides);
      const Tensor clean = c.run(1);
      c.inputs[0] = copy_of(c.inputs[0]);
      c.inputs[0].row(kChanged)[5] = std::numeric_limits<float>::quiet_NaN();
      const Tensor poisoned = c.run(1);
      const int first = sides == WindowSides::before ? kChanged : kChanged - window, end = kChanged + window + 1;
      EXPECT_TRUE(same_bits(clean.slice(0, first), poisoned.slice(0, first))) << describe(c);
      EXPECT_TRUE(same_bits(clean.slice(end, kRows - end), poisoned.slice(end, kRows - end))) << describe(c);
      for (int row = first; row < end; ++row) EXPECT_TRUE(std::isnan(poisoned.row(row)[0])) << row;
    }
  }
}

TEST(LocalAttention, AnObserverGetsTheKeysThatARowSees) {
  for (const WindowSides sides : {WindowSides::both, WindowSides::before}) {
    const LocalCase c(6, {20, 4}, {21, 2}, 3, sides);
    LayerRunner runner = c.runner(2);
    const Tensor unobserved = runner.run(c.inputs, packed(c.rows));
    int calls = 0;
    runner.state().observe_attention(Edge{1}, [&](const AttentionWeights& attention) {
      ++calls;
      const int start = attention.row < 21 ? 0 : 21, rows = attention.row < 21 ? 21 : 2;
      const int position = attention.row - start;
      EXPECT_EQ(attention.first_key, std::max(position - 3, 0));
      const int end = sides == WindowSides::before ? position + 1 : std::min(position + 4, rows);
      ASSERT_EQ(attention.weights.size(), static_cast<std::size_t>(end - attention.first_key));
      double sum = 0.0;
      for (const float weight : attention.weights) sum += weight;
      EXPECT_NEAR(sum, 1.0, 10 * 0x1p-24);
    });
    EXPECT_TRUE(same_bits(unobserved, runner.run(c.inputs, packed(c.rows))));
    EXPECT_EQ(calls, 23 * 4);
  }
}

std::vector<LayerCase> local_cases() {
  return self_attention_cases(
      [](const WeightScope& weights, AttentionOptions options) {
        options.limits = {};
        return std::make_shared<LocalAttention>(weights, LocalAttentionOptions{.attention = options, .window = 4});
      },
      Mask::none, {.before = 4, .after = 4});
}
INSTANTIATE_TEST_SUITE_P(LocalAttention, LayerContract, testing::Values(&local_cases));

TEST(LocalAttention, RefusesANegativeWindowAndAPast) {
  LocalCase c(8, {10, 2}, {4}, 2);
  try {
    c.runner(1).run(c.inputs, packed(std::array{4}, std::array{3}));
    ADD_FAILURE() << "no exception";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "local_attention: a sequence has a past of 3 positions, expected 0: nothing is cached");
  }
  c.options.window = -1;
  try {
    c.runner(1);
    ADD_FAILURE() << "no exception";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "local_attention: window -1, expected 0 or more");
  }
}

}  // namespace
}  // namespace lessons
