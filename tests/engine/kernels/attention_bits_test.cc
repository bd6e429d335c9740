// Tests which inputs the bits of a query's attention depend on.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/kernels/attention_fixture.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
#include "tests/support/vector_targets.h"

namespace encdec::kernels {
namespace {

TEST(Attention, AWindowedQueryHasTheSameBitsWithTheKeysOfItsWindowOnly) {
  for_each_vector_target([] {
    for (const int head_dim : {5, 33, 64}) {
      for (const int window : {0, 3, 20}) {
        for (const int rows : {9, 47}) {
          Operands operands(22, rows, rows, head_dim);
          operands.window = window;
          const Tensor all = operands.run();
          for (int i = 0; i < rows; ++i) {
            const int first = std::max(i - window, 0), end = std::min(i + window + 1, rows);
            Operands one = operands;
            one.window = -1;
            one.query = operands.query.slice(i, 1);
            one.key = operands.key.slice(first, end - first);
            one.value = operands.value.slice(first, end - first);
            ASSERT_TRUE(same_bits(all.slice(i, 1), one.run()))
                << "query " << i << " of " << rows << ", window " << window << ", head_dim " << head_dim;
          }
        }
      }
    }
  });
}

TEST(Attention, LargeScoresGiveNoNaN) {
  for_each_vector_target([] {
    for (const int head_dim : {1, 16, 33}) {
      for (const int keys : {1, 5, 40}) {
        Operands operands(9, 8, keys, head_dim, 1e4 * std::sqrt(head_dim));
        const Tensor output = operands.run();
        for (std::int64_t i = 0; i < output.elements(); ++i) {
          ASSERT_LE(std::abs(output.data<float>()[i]), 1.0f) << "a mean of values is not outside them";
        }
      }
    }
  });
}

TEST(Attention, OneLargeScoreGivesThatKeysValue) {
  for_each_vector_target([] {
    for (const float large : {1e4f, 1e30f}) {
      Operands operands(10, 1, 9, 8);
      std::fill_n(operands.query.data<float>(), 8, 0.0f);
      std::fill_n(operands.key.data<float>(), operands.key.elements(), 0.0f);
      operands.query.data<float>()[2] = large;
      for (int j = 0; j < 9; ++j) operands.key.row(j)[2] = j == 6 ? 1.0f : -1.0f;
      EXPECT_TRUE(same_bits(operands.value.slice(6, 1), operands.run()));
    }
  });
}

TEST(Attention, AQueryHasTheSameBitsAloneAndAmongFewQueries) {
  for_each_vector_target([] {
    for (const int head_dim : kHeadDims) {
      for (const int keys : {1, 3, 16, 37, 70}) {
        const Operands operands(11, 11, keys, head_dim);
        const Tensor all = operands.run();
        for (int i = 0; i < 11; ++i) {
          for (const int count : {1, 2, 5}) {
            if (i + count > 11) continue;
            Operands some = operands;
            some.query = operands.query.slice(i, count);
            ASSERT_TRUE(same_bits(all.slice(i, count), some.run()))
                << "queries " << i << " to " << i + count << ", " << keys << " keys, head_dim " << head_dim;
          }
        }
      }
    }
  });
}

TEST(Attention, AQueryHasTheSameBitsAloneAndAmongManyQueries) {
  for_each_vector_target([] {
    for (const int head_dim : kHeadDims) {
      for (const int keys : {15, 16, 33, 100}) {
        for (const int queries : {16, 19, 21, 40}) {
          const Operands operands(16, queries, keys, head_dim);
          const Tensor all = operands.run();
          for (int i = 0; i < queries; ++i) {
            Operands one = operands;
            one.query = operands.query.slice(i, 1);
            ASSERT_TRUE(same_bits(all.slice(i, 1), one.run()))
                << "query " << i << " of " << queries << ", " << keys << " keys, head_dim " << head_dim;
          }
        }
      }
    }
  });
}

TEST(Attention, EachOfManyCausalQueriesHasTheSameBitsWithItsKeysOnly) {
  for_each_vector_target([] {
    for (const int head_dim : {5, 33, 64}) {
      for (const int past : {0, 20, -3}) {  // -3: the first three queries see no keys
        Operands operands(17, 37, 37 + past, head_dim);
        operands.mask = Mask::causal;
        const Tensor all = operands.run();
        for (int i = std::max(0, -past); i < 37; ++i) {
          Operands one = operands;
          one.query = operands.query.slice(i, 1);
          one.key = operands.key.slice(0, past + i + 1);
          one.value = operands.value.slice(0, past + i + 1);
          ASSERT_TRUE(same_bits(all.slice(i, 1), one.run()))
              << "query " << i << ", past " << past << ", head_dim " << head_dim;
        }
      }
    }
  });
}

TEST(Attention, ACausalQueryHasTheSameBitsWithItsKeysOnly) {
  for_each_vector_target([] {
    for (const int head_dim : kHeadDims) {
      Operands operands(12, 19, 19, head_dim);
      operands.mask = Mask::causal;
      const Tensor all = operands.run();
      for (int i = 0; i < 19; ++i) {
        Operands one = operands;
        one.query = operands.query.slice(i, 1);
        one.key = operands.key.slice(0, i + 1);
        one.value = operands.value.slice(0, i + 1);
        ASSERT_TRUE(same_bits(all.slice(i, 1), one.run())) << "query " << i << ", head_dim " << head_dim;
      }
    }
  });
}

TEST(Attention, KeysOutsideAWindowMayBeNaN) {
  for_each_vector_target([] {
    for (const int rows : {8, 50}) {
      Operands operands(23, rows, rows, 24);
      operands.window = 2;
      const Tensor clean = operands.run();
      operands.key = copy_of(operands.key);
      operands.value = copy_of(operands.value);
      std::fill_n(operands.key.row(3), 24, std::numeric_limits<float>::quiet_NaN());
      std::fill_n(operands.value.row(3), 24, std::numeric_limits<float>::quiet_NaN());
      const Tensor poisoned = operands.run();
      EXPECT_TRUE(same_bits(clean.slice(0, 1), poisoned.slice(0, 1)));
      EXPECT_TRUE(same_bits(clean.slice(6, rows - 6), poisoned.slice(6, rows - 6)));
      for (int i = 1; i <= 5; ++i) EXPECT_TRUE(std::isnan(poisoned.row(i)[0])) << i;
    }
  });
}

TEST(Attention, KeysThatACausalQueryDoesNotSeeMayBeNaN) {
  for_each_vector_target([] {
    Operands operands(13, 6, 6, 24);
    operands.mask = Mask::causal;
    const Tensor clean = operands.run();
    operands.key = copy_of(operands.key);
    operands.value = copy_of(operands.value);
    std::fill_n(operands.key.row(5), 24, std::numeric_limits<float>::quiet_NaN());
    std::fill_n(operands.value.row(5), 24, std::numeric_limits<float>::quiet_NaN());
    const Tensor poisoned = operands.run();
    EXPECT_TRUE(same_bits(clean.slice(0, 5), poisoned.slice(0, 5)));
    EXPECT_TRUE(std::isnan(poisoned.row(5)[0]));
  });
}

}  // namespace
}  // namespace encdec::kernels
