// Tests which inputs the bits of a query's attention depend on.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/kernels/attention_fixture.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
#include "tests/support/vector_targets.h"

namespace encdec::kernels {
namespace {

TEST(Attention, AQueryHasTheSameBitsAloneWithTheKeysThatItSees) {
  for_each_vector_target([] {
    for (const HeadCase& c : head_cases()) {
      if (c.set == QuerySet::all) continue;
      const Operands operands(c);
      const Tensor all = operands.run();
      for (int i = 0; i < c.queries; ++i) {
        Tensor output = Tensor::allocate({1, all.width()});
        HeadAttention one = operands.head(output);
        const KeyRange seen = keys_seen(one, i);
        if (c.bias_reach > 0) one.first_position = one.position_of(i) - seen.first;
        one.query = operands.query.row(i);
        one.query_count = 1;
        one.keys.data = operands.key.row(seen.first);
        one.values.data = operands.value.row(seen.first);
        one.key_count = seen.count();
        one.limits = {};
        ASSERT_TRUE(same_bits(all.slice(i, 1), Operands::run(one, output))) << describe(c) << ", query " << i;
      }
    }
  });
}

TEST(Attention, KeysThatAQueryDoesNotSeeMayBeNaN) {
  for_each_vector_target([] {
    for (const HeadCase& c : head_cases()) {
      if (c.set == QuerySet::all || c.keys == 0 || (c.mask == Mask::none && c.window < 0)) continue;
      Operands operands(c);
      const Tensor clean = operands.run();
      const int changed = c.keys / 2;
      for (Tensor* tensor : {&operands.key, &operands.value}) {
        *tensor = copy_of(*tensor);
        std::fill_n(tensor->row(changed), tensor->width(), std::numeric_limits<float>::quiet_NaN());
      }
      Tensor poisoned = operands.run();
      for (int i = 0; i < c.queries; ++i) {
        const KeyRange seen = keys_seen(operands.head(poisoned), i);
        if (seen.first <= changed && changed < seen.end) {
          ASSERT_TRUE(std::isnan(poisoned.row(i)[0])) << describe(c) << ", query " << i;
        } else {
          ASSERT_TRUE(same_bits(clean.slice(i, 1), poisoned.slice(i, 1))) << describe(c) << ", query " << i;
        }
      }
    }
  });
}

TEST(Attention, LargeScoresGiveNoNaN) {
  for_each_vector_target([] {
    for (const int head_dim : {1, 16, 33}) {
      for (const int keys : {1, 5, 40}) {
        const Operands operands({8, keys, head_dim}, 1, 1e4 * std::sqrt(head_dim));
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
      Operands operands({1, 9, 8});
      std::fill_n(operands.query.data<float>(), 8, 0.0f);
      std::fill_n(operands.key.data<float>(), operands.key.elements(), 0.0f);
      operands.query.data<float>()[2] = large;
      for (int j = 0; j < 9; ++j) operands.key.row(j)[2] = j == 6 ? 1.0f : -1.0f;
      EXPECT_TRUE(same_bits(operands.value.slice(6, 1), operands.run()));
    }
  });
}

}  // namespace
}  // namespace encdec::kernels
