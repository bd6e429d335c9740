#include "encdec/layers/transformer/multi_head_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/layers/attention_fixture.h"
#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"

namespace encdec {
namespace {

using reference::Mask;
using reference::Matrix;

struct HeadsCase : SelfAttentionCase<MultiHeadAttention, AttentionOptions> {
  HeadsCase(std::uint64_t seed, const AttentionSizes& sizes, std::vector<int> given_rows,
            Residual residual = Residual::none, DataType type = DataType::float32)
      : SelfAttentionCase(options_for(sizes, residual), std::move(given_rows)) {
    RandomTensors random(seed);
    weights = attention_weights(random, options, type);
    make_inputs(random, options);
  }

  Matrix expected() const {
    return with_residual(of_each_sequence(inputs[0], rows, [&](const Matrix& sequence) {
      return attend(weights, sequence, sequence, options.heads, {.mask = Mask::none});
    }));
  }
};

std::string describe(const HeadsCase& c) {
  return "D " + std::to_string(c.options.model_dim) + ", heads " + std::to_string(c.options.heads) + ", head_dim " +
         std::to_string(c.options.inner_dim() / c.options.heads) + ", rows " + testing::PrintToString(c.rows);
}

TEST(MultiHeadAttention, FollowsTheFormulaForEverySize) {
  for (const AttentionSizes& sizes : kAttentionSizes) {
    for (const std::vector<int>& rows : {std::vector{1}, {7}, {3, 1, 5}, {1, 1, 1}, {2, 0, 17}}) {
      for (const Residual residual : {Residual::none, Residual::add}) {
        const HeadsCase c(1, sizes, rows, residual);
        for (const int threads : {1, 2}) EXPECT_TRUE(is_close_to(c.expected(), c.run(threads))) << describe(c);
      }
    }
  }
}

TEST(MultiHeadAttention, HalfPrecisionWeightsAreAccepted) {
  for (const DataType type : {DataType::float16, DataType::bfloat16}) {
    const HeadsCase c(2, {20, 4}, {5, 2}, Residual::none, type);
    EXPECT_TRUE(is_close_to(c.expected(), c.run(1))) << to_string(type);
  }
}

TEST(MultiHeadAttention, BatchNeighboursDoNotChangeABit) {
  for (const AttentionSizes& sizes : {AttentionSizes{15, 5}, AttentionSizes{64, 2}, AttentionSizes{257, 1}}) {
    expect_neighbours_do_not_change_a_bit(HeadsCase(3, sizes, {3, 40, 1, 9, 17}));
  }
}

TEST(MultiHeadAttention, ANaNStaysInItsSequence) {
  expect_a_nan_stays_in_its_sequence(HeadsCase(4, {64, 2}, {6, 9, 4}), 8, 6);
}

TEST(MultiHeadAttention, NumberOfThreadsDoesNotChangeABit) {
  for (const AttentionSizes& sizes : {AttentionSizes{96, 3}, AttentionSizes{257, 1}}) {
    const HeadsCase c(5, sizes, {3, 40, 1, 9}, Residual::add);
    const Tensor alone = c.run(1);
    for (const int threads : {2, 3, 4}) EXPECT_TRUE(same_bits(alone, c.run(threads))) << describe(c);
  }
}

TEST(MultiHeadAttention, EveryWeightIsChecked) {
  const HeadsCase c(6, {10, 2, 3}, {1});
  expect_every_weight_is_checked<MultiHeadAttention>(c.weights, c.options);
}

TEST(MultiHeadAttention, TheModelMustBeAMultipleOfTheHeads) {
  const HeadsCase c(7, {10, 2}, {1});
  for (const int heads : {3, 0, -1}) {
    AttentionOptions options = c.options;
    options.heads = heads;
    try {
      MultiHeadAttention layer(make_scope(c.weights), options);
      ADD_FAILURE() << "no exception for " << heads;
    } catch (const ShapeError& error) {
      EXPECT_EQ(error.what(), std::to_string(heads) + " attention heads do not divide the model dimension 10");
    }
  }
}

TEST(MultiHeadAttention, RefusesInputsThatDoNotFit) {
  const auto layer = [](Residual residual) {
    const HeadsCase c(8, {10, 2}, {1}, residual);
    return std::make_shared<MultiHeadAttention>(make_scope(c.weights), c.options);
  };
  EXPECT_EQ(shape_error(layer(Residual::none), {}), "no input");
  EXPECT_EQ(shape_error(layer(Residual::none), {{4, 11}}), "input has shape [4, 11], expected [rows, 10]");
  EXPECT_EQ(shape_error(layer(Residual::none), {{4, 10}, {4, 10}}), "2 inputs, expected 1");
  EXPECT_EQ(shape_error(layer(Residual::add), {{4, 10}, {5, 10}}), "residual has shape [5, 10], expected [4, 10]");
}

TEST(MultiHeadAttention, SequencesMustCoverAllRows) {
  const HeadsCase c(9, {10, 2}, {3, 2});
  LayerRunner runner(std::make_shared<MultiHeadAttention>(make_scope(c.weights), c.options),
                     std::array{Shape{kSourceRows, 10}});
  try {
    runner.run(c.inputs, packed(std::array{3}));
    FAIL() << "two rows would be left out";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "1 sequences have 3 rows together, expected 5: those of RunState::sequences");
  }
}

}  // namespace
}  // namespace encdec
