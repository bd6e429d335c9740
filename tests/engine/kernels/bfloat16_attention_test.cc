// Tests of attention that multiplies in bfloat16. Skipped on CPUs without AVX-512 BF16.
#include "encdec/engine/kernels/bfloat16_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "encdec/engine/backend/onednn.h"
#include "tests/engine/kernels/attention_fixture.h"
#include "tests/support/comparison.h"

namespace encdec::kernels {
namespace {

class Bfloat16Attention : public testing::Test {
 protected:
  void SetUp() override {
    if (!backend::instruction_sets().avx512_bfloat16) GTEST_SKIP() << "no AVX-512 BF16";
  }

  static Tensor run(const Operands& operands, bool in_bfloat16 = true) {
    Tensor output = Tensor::allocate({operands.query.shape()[0], operands.value.width()});
    HeadAttention head = operands.head(output);
    head.queries = in_bfloat16 ? QuerySet::all_in_bfloat16 : QuerySet::all;
    return Operands::run(head, output);
  }
};

// Rounds each number to the nearest bfloat16. Products of such numbers are exact, so that only the weights are rounded.
void round(Tensor& tensor) {
  for (float& value : std::span(tensor.data<float>(), static_cast<std::size_t>(tensor.elements()))) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000;
    std::memcpy(&value, &bits, sizeof(bits));
  }
}

// Bound on the error of an output: each weight is off by at most 2^-9 of itself, weights add up to 1, values are at
// most 1.
constexpr double kRoundedWeights = 1.0 / 512 + 1e-5;

testing::AssertionResult is_near(const Matrix& expected, const Tensor& found, double tolerance) {
  for (std::int64_t i = 0; i < found.elements(); ++i) {
    const double difference = found.data<float>()[i] - expected.values[static_cast<std::size_t>(i)];
    if (!(std::abs(difference) <= tolerance)) {
      return testing::AssertionFailure() << "number " << i << " is off by " << difference;
    }
  }
  return testing::AssertionSuccess();
}

TEST_F(Bfloat16Attention, FollowsTheFormulaForEverySize) {
  for (const int head_dim : {1, 2, 5, 16, 31, 33, 64, 80, 128, 255, 256}) {
    for (const int count : {16, 17, 31, 32, 33, 63, 64, 65, 129, 300}) {
      Operands operands({count, count, head_dim});
      for (Tensor* tensor : {&operands.query, &operands.key, &operands.value}) round(*tensor);
      ASSERT_TRUE(is_near(operands.expected(), run(operands), kRoundedWeights))
          << count << " rows, head_dim " << head_dim;
    }
  }
}

TEST_F(Bfloat16Attention, ValuesMayHaveAnotherWidthThanKeys) {
  for (const int value_dim : {1, 8, 63, 64, 65, 130}) {
    const Operands operands({40, 41, 24, value_dim});
    ASSERT_TRUE(is_near(operands.expected(), run(operands), 0.02)) << value_dim;
  }
}

TEST_F(Bfloat16Attention, AQueryHasTheSameBitsAmongOtherQueries) {
  const Operands all({100, 100, 64});
  const Tensor together = run(all);
  for (const int first : {0, 1, 5, 40, 84}) {
    Operands some = all;
    some.query = all.query.slice(first, 16);
    EXPECT_TRUE(same_bits(together.slice(first, 16), run(some))) << first;
  }
}

class PackedAttention : public Bfloat16Attention {
 protected:
  // Packs keys and values into buffers of exactly one 16-bit number per element, so that sanitizers find any access
  // beyond.
  static Tensor run(const Operands& operands) {
    Tensor output = Tensor::allocate({operands.query.shape()[0], operands.value.width()});
    HeadAttention head = operands.head(output);
    const Bfloat16Head packed{head.key_count, head.head_dim, head.value_dim};
    std::vector<std::uint16_t> keys(static_cast<std::size_t>(operands.key.elements()));
    std::vector<std::uint16_t> values(static_cast<std::size_t>(operands.value.elements()));
    EXPECT_EQ(packed.keys(), keys.size());
    EXPECT_EQ(packed.values(), values.size());
    pack_bfloat16_keys(packed, operands.key.data<float>(), operands.key.width(), keys.data());
    pack_bfloat16_values(packed, operands.value.data<float>(), operands.value.width(), values.data());
    head.keys = {.data = keys.data(), .form = RowForm::packed};
    head.values = {.data = values.data(), .form = RowForm::packed};
    return Operands::run(head, output);
  }
};

TEST_F(PackedAttention, FollowsTheFormulaForEverySize) {
  for (const int head_dim : {2, 16, 30, 64, 80, 130, 256}) {
    for (const int key_count : {1, 2, 15, 16, 31, 33, 64, 65, 97, 300}) {
      for (const int query_count : {1, 2, 3, 4, 5, 6, 7, 20}) {
        Operands operands({query_count, key_count, head_dim});
        for (Tensor* tensor : {&operands.query, &operands.key, &operands.value}) round(*tensor);
        ASSERT_TRUE(is_near(operands.expected(), run(operands), kRoundedWeights))
            << query_count << " x " << key_count << ", head_dim " << head_dim;
      }
    }
  }
}

// These give the same bits: all queries in one call, a single query, and a call that packs keys and values itself.
TEST_F(PackedAttention, AQueryHasTheSameBitsAmongOtherQueries) {
  const Operands all({20, 77, 64});
  const Tensor together = run(all);
  EXPECT_TRUE(same_bits(together, Bfloat16Attention::run(all)));
  for (const int query : {0, 5, 6, 19}) {
    Operands one = all;
    one.query = all.query.slice(query, 1);
    EXPECT_TRUE(same_bits(together.slice(query, 1), run(one))) << query;
  }
}

TEST_F(PackedAttention, NoKeysGiveZeros) {
  const Tensor found = run(Operands({3, 0, 16}));
  for (std::int64_t i = 0; i < found.elements(); ++i) EXPECT_EQ(found.data<float>()[i], 0);
}

// Expects float32 with few queries or few keys, with a large head_dim, and with a mask or a window.
TEST_F(Bfloat16Attention, IsUsedOnlyIfItIsFaster) {
  for (const HeadCase& c : {HeadCase{15, 40, 64},
                            {40, 15, 64},
                            {20, 20, 300},
                            {.queries = 40, .keys = 40, .head_dim = 64, .mask = Mask::causal},
                            {.queries = 40, .keys = 40, .head_dim = 64, .window = 7}}) {
    const Operands operands(c);
    EXPECT_TRUE(same_bits(run(operands, false), run(operands))) << describe(c);
  }
}

}  // namespace
}  // namespace encdec::kernels
