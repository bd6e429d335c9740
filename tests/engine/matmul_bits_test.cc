// Tests which inputs the bits of a row depend on.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/engine/matmul_fixture.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"

namespace encdec {
namespace {

TEST(MatMul, ARowHasTheSameBitsAloneAndInAnyBatch) {
  RandomTensors random(5);
  for (int i = 0; i < 3 * static_cast<int>(kWidths.size()); ++i) {
    const MatMulWidths widths = kWidths[static_cast<std::size_t>(i) / 3];
    MatMulCase c = uniform_case(6, widths, 300, true, random.below(2) == 0);
    c.precision = kPrecisions[static_cast<std::size_t>(i) % 3];
    if (random.below(2) == 0) c.activation = Activation::gelu_tanh;
    if (!c.rows_are_independent()) continue;
    const MatMul matmul = c.matmul(1);
    RunState state{Graph("test")};
    const Tensor all = c.run(matmul, state, 0, 300);
    for (int row = 0; row < 300; row += 7) {
      ASSERT_TRUE(same_bits(all.slice(row, 1), c.run(matmul, state, row, 1))) << describe(c) << ", row " << row;
    }
    for (const int rows : kRowCounts) {
      const int first = random.below(300 - rows + 1);
      ASSERT_TRUE(same_bits(all.slice(first, rows), c.run(matmul, state, first, rows)))
          << describe(c) << ", rows " << first << " to " << first + rows;
    }
  }
}

// oneDNN sums long rows in chunks, and may use another kernel for a single row. The sums must still be equal.
class LongRows : public testing::TestWithParam<Precision> {};

TEST_P(LongRows, HaveTheSameBitsAloneAndInAnyBatch) {
  constexpr int kRows = 300;
  for (const int input_width : {511, 513, 1023, 1024, 1025, 1500, 2048, 2049, 4096}) {
    for (const MatMulWidths widths : {MatMulWidths{input_width, 64}, MatMulWidths{input_width, 200}}) {
      const bool full = widths.output == 200;
      MatMulCase c = uniform_case(14, widths, kRows, full, full);
      c.precision = GetParam();
      if (!c.rows_are_independent()) continue;
      for (const int threads : {1, 2}) {
        const MatMul matmul = c.matmul(threads);
        RunState state(Graph("test"), std::make_shared<ThreadTeam>(threads));
        const Tensor all = c.run(matmul, state, 0, kRows);
        for (const int count : {1, 2, 3, 4, 6, 8, 16, 24, 32, 33, 64, 100, 128, 256}) {
          for (const int first : {0, 20, kRows - count}) {
            ASSERT_TRUE(same_bits(all.slice(first, count), c.run(matmul, state, first, count)))
                << describe(c) << ", rows " << first << " to " << first + count << ", threads " << threads;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(MatMul, LongRows, testing::ValuesIn(kPrecisions),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

TEST(MatMul, NumberOfThreadsDoesNotChangeABit) {
  RandomTensors random(7);
  for (const MatMulWidths widths :
       {MatMulWidths{300, 7}, MatMulWidths{256, 256}, MatMulWidths{127, 641}, MatMulWidths{512, 320}}) {
    for (const int rows : kRowCounts) {
      MatMulCase c = uniform_case(8, widths, rows, true, random.below(2) == 0);
      c.precision = kPrecisions[static_cast<std::size_t>(random.below(3))];
      c.activation = random.below(2) == 0 ? Activation::silu : Activation::identity;
      if (!c.rows_are_independent()) continue;
      const Tensor alone = c.run(1);
      for (const int threads : {2, 3}) {
        ASSERT_TRUE(same_bits(alone, c.run(threads))) << describe(c) << ", threads " << threads;
      }
    }
  }
}

TEST(MatMul, ATeamLargerThanTheWeightsWerePackedForGivesTheSameBits) {
  for (const Precision precision : kPrecisions) {
    MatMulCase c = uniform_case(9, {256, 384}, 129, true, true);
    c.precision = precision;
    const MatMul matmul = c.matmul(2);
    RunState one(Graph("test"), std::make_shared<ThreadTeam>(1));
    RunState four(Graph("test"), std::make_shared<ThreadTeam>(4));
    EXPECT_TRUE(same_bits(c.run(matmul, one, 0, 129), c.run(matmul, four, 0, 129)));
  }
}

TEST(MatMul, ANaNStaysInItsRow) {
  for (const int variant : {0, 1, 2, 3, 4, 5}) {
    const int threads = 1 + variant / 3;
    MatMulCase c = uniform_case(10, {64, 1100}, 40, true, true);
    c.precision = kPrecisions[static_cast<std::size_t>(variant % 3)];
    const Tensor clean = c.run(threads);
    c.input = copy_of(c.input);
    c.input.row(17)[3] = std::numeric_limits<float>::quiet_NaN();
    const Tensor poisoned = c.run(threads);
    EXPECT_TRUE(std::isnan(poisoned.row(17)[0]));
    EXPECT_TRUE(same_bits(clean.slice(0, 17), poisoned.slice(0, 17)));
    EXPECT_TRUE(same_bits(clean.slice(18, 22), poisoned.slice(18, 22)));
  }
}

}  // namespace
}  // namespace encdec
