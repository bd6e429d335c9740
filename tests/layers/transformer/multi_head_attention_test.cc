#include "encdec/layers/transformer/multi_head_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "encdec/engine/base/error.h"
#include "encdec/layers/transformer/masked_decoder_attention.h"
#include "tests/layers/attention_fixture.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

using reference::Mask;
using reference::Matrix;

std::vector<LayerCase> multi_head_cases() {
  return self_attention_cases(
      [](const WeightScope& weights, const AttentionOptions& options) {
        return std::make_shared<MultiHeadAttention>(weights, options);
      },
      {.mask = Mask::none});
}
INSTANTIATE_TEST_SUITE_P(MultiHeadAttention, LayerContract, testing::Values(&multi_head_cases));

std::vector<LayerCase> causal_cases() {
  return self_attention_cases(
      [](const WeightScope& weights, AttentionOptions options) {
        options.limits.after = 0;
        return std::make_shared<MultiHeadAttention>(weights, options);
      },
      {.mask = Mask::causal});
}
INSTANTIATE_TEST_SUITE_P(Causal, LayerContract, testing::Values(&causal_cases));

std::vector<LayerCase> window_cases() {
  return self_attention_cases(
      [](const WeightScope& weights, AttentionOptions options) {
        options.limits = {.before = 4, .after = 2};
        return std::make_shared<MultiHeadAttention>(weights, options);
      },
      {.window = 4, .ahead = 2});
}
INSTANTIATE_TEST_SUITE_P(Window, LayerContract, testing::Values(&window_cases));

TEST(MultiHeadAttention, PiecesOfAStreamGiveTheBitsOfTheWholeSequence) {
  for (const auto& [behind, ahead] : {std::pair(4, 2), {0, 3}, {15, 0}}) {
    RandomTensors random(6);
    AttentionOptions options = options_for({10, 2, 16}, Residual::add);
    options.limits = {.before = behind, .after = ahead};
    options.in_pieces = true;
    const auto weights = attention_weights(random, options);
    const auto make = [&](int threads) {
      return LayerRunner(std::make_shared<MultiHeadAttention>(make_scope(weights), options),
                         std::vector<Shape>{{kSourceRows, 10}, {kSourceRows, 10}}, threads);
    };
    constexpr int kRows = 90;
    const Tensor x = random.uniform({kRows + ahead, 10}), residual = random.uniform({kRows + ahead, 10});
    const Tensor expected =
        make(1).run(std::array{x.slice(0, kRows), residual.slice(0, kRows)}, packed(std::vector{kRows}));
    LayerRunner pieces = make(2);
    std::vector<float> joined;
    for (int first = 0, rows = 1; first < kRows + ahead; first += rows, rows = rows % 13 + 3) {
      rows = std::min(rows, kRows + ahead - first);
      pieces.state().stream = {.first = first, .end = first + rows > kRows ? kRows : 1000};
      const Tensor y =
          pieces.run(std::array{x.slice(first, rows), residual.slice(first, rows)}, packed(std::vector{rows}));
      EXPECT_EQ(pieces.state().stream->first, first - ahead);
      for (int row = std::max(0, ahead - first); row < rows; ++row) {
        joined.insert(joined.end(), y.row(row), y.row(row) + 10);
      }
    }
    EXPECT_TRUE(same_bits(expected, Tensor(joined.data(), DataType::float32, {kRows, 10}))) << behind << ' ' << ahead;
  }
}

// Returns columns in which each head of a projection stands `times` times.
Matrix repeated(const Matrix& rows, std::int64_t head_dim, int times) {
  Matrix result(rows.rows, rows.columns * times);
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    for (std::int64_t i = 0; i < result.columns; ++i) {
      const std::int64_t column = i / (head_dim * times) * head_dim + i % head_dim;
      result.at(r, i) = rows.at(r, column);
      result.error(r, i) = rows.error(r, column);
    }
  }
  return result;
}

std::vector<LayerCase> shared_key_cases() {
  RandomTensors random(3);
  std::vector<LayerCase> cases;
  for (const auto& [sizes, key_value_heads] : {std::pair(AttentionSizes{16, 4}, 2),
                                               {AttentionSizes{15, 5}, 1},
                                               {AttentionSizes{96, 6}, 6},
                                               {AttentionSizes{10, 6, 16}, 3}}) {
    AttentionOptions options = options_for(sizes, Residual::add);
    options.key_value_heads = key_value_heads;
    LayerCase& c = cases.emplace_back();
    c.name = "D " + std::to_string(sizes.model_dim) + ", key/value heads " + std::to_string(key_value_heads);
    c.weights = attention_weights(random, options);
    for (const char* name : {"key", "value"}) {
      for (const char* part : {".weight", ".bias"}) {
        Tensor& weight = c.weights.at(std::string(name) + part);
        weight = weight.slice(0, options.key_value_dim());
      }
    }
    c.make = [options](const WeightScope& weights) { return std::make_shared<MultiHeadAttention>(weights, options); };
    c.rows = {7, 1, 12};
    c.inputs = {random.uniform({20, sizes.model_dim}), random.uniform({20, sizes.model_dim})};
    c.expected = [options](const LayerCase& self) {
      const Matrix attended = of_each_sequence(self.inputs[0], self.rows, [&](const Matrix& x) {
        const auto shared = [&](const char* name) {
          return repeated(project(self.weights, name, x), options.head_width(), options.heads_per_key());
        };
        return project(self.weights, "output",
                       multi_head_attention(project(self.weights, "query", x), shared("key"), shared("value"),
                                            options.heads, {.mask = Mask::none}));
      });
      return add(attended, Matrix(self.inputs[1]));
    };
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(SharedKeys, LayerContract, testing::Values(&shared_key_cases));

TEST(SharedKeys, MustFitTheHeadsAndAnEncoder) {
  const WeightScope none = make_scope({});
  EXPECT_EQ(
      message_of<ShapeError>([&] { MultiHeadAttention(none, {.model_dim = 12, .heads = 6, .key_value_heads = 4}); }),
      "4 key/value heads do not divide 6 attention heads");
  EXPECT_EQ(message_of<ShapeError>(
                [&] { MaskedDecoderAttention(none, {.model_dim = 12, .heads = 6, .key_value_heads = 3}); }),
            "3 key/value heads for 6 attention heads, expected as many outside of an encoder");
}

TEST(MultiHeadAttention, TheModelMustBeAMultipleOfTheHeads) {
  for (const int heads : {3, 0, -1}) {
    try {
      MultiHeadAttention layer(make_scope({}), {.model_dim = 10, .heads = heads});
      ADD_FAILURE() << "no exception for " << heads;
    } catch (const ShapeError& error) {
      EXPECT_EQ(error.what(), std::to_string(heads) + " attention heads do not divide the model dimension 10");
    }
  }
}

TEST(MultiHeadAttention, SequencesMustCoverAllRows) {
  RandomTensors random(1);
  const AttentionOptions options = options_for({10, 2});
  LayerRunner runner(std::make_shared<MultiHeadAttention>(make_scope(attention_weights(random, options)), options),
                     std::array{Shape{kSourceRows, 10}});
  try {
    runner.run(std::array{random.uniform({5, 10})}, packed(std::array{3}));
    FAIL() << "two rows would be left out";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "1 sequences have 3 rows together, expected 5: those of RunState::sequences");
  }
}

}  // namespace
}  // namespace encdec
