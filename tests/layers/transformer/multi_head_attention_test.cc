#include "encdec/layers/transformer/multi_head_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "encdec/engine/base/error.h"
#include "tests/layers/attention_fixture.h"

namespace encdec {
namespace {

using reference::Mask;

std::vector<LayerCase> multi_head_cases() {
  return self_attention_cases(
      [](const WeightScope& weights, const AttentionOptions& options) {
        return std::make_shared<MultiHeadAttention>(weights, options);
      },
      {.mask = Mask::none});
}
INSTANTIATE_TEST_SUITE_P(MultiHeadAttention, LayerContract, testing::Values(&multi_head_cases));

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
