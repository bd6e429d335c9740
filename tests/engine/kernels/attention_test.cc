#include "encdec/engine/kernels/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/engine/kernels/attention_fixture.h"
#include "tests/support/comparison.h"
#include "tests/support/vector_targets.h"

namespace encdec::kernels {
namespace {

// A query that sees no key gets zeros.
TEST(Attention, FollowsTheFormula) {
  for_each_vector_target([] {
    for (const HeadCase& c : head_cases()) {
      const Operands operands(c);
      const Matrix expected = operands.expected();
      if (std::ranges::all_of(expected.values, [](double value) { return value == 0; })) {
        EXPECT_TRUE(same_bits(Tensor::allocate(operands.query.shape()), operands.run())) << describe(c);
      } else {
        ASSERT_TRUE(is_close_to(expected, operands.run())) << describe(c);
      }
    }
  });
}

TEST(Attention, IndexedRowsMayLieInAnyOrder) {
  RandomTensors random(4);
  for_each_vector_target([&] {
    for (const int head_dim : kHeadDims) {
      for (const int keys : {1, 7, 33}) {
        const Operands operands({6, keys, head_dim});
        // Keys and values lie scattered in a larger cache whose rows are wider than a head.
        const std::ptrdiff_t stride = 3 * head_dim + 1;
        std::vector<std::int32_t> index;
        for (const int row : random.permutation(2 * keys)) {
          if (index.size() < static_cast<std::size_t>(keys)) index.push_back(row);
        }
        std::vector<float> cached_keys(static_cast<std::size_t>(2 * keys * stride), 1e30f);
        std::vector<float> cached_values = cached_keys;
        for (int j = 0; j < keys; ++j) {
          const std::ptrdiff_t at = index[static_cast<std::size_t>(j)] * stride;
          std::copy_n(operands.key.row(j), head_dim, cached_keys.begin() + at);
          std::copy_n(operands.value.row(j), head_dim, cached_values.begin() + at);
        }
        Tensor output = operands.output();
        HeadAttention head = operands.head(output);
        head.keys = {cached_keys.data(), stride, index.data()};
        head.values = {cached_values.data(), stride, index.data()};
        Operands::run(head, output);
        ASSERT_TRUE(same_bits(operands.run(), output)) << keys << " keys, head_dim " << head_dim;
      }
    }
  });
}

// Widening bfloat16 is exact: the bits are those of the same numbers as float32, also if a page holds several heads.
TEST(Attention, KeysAndValuesMayBeBfloat16InPages) {
  constexpr int kHeads = 3, kPage = AttentionRows::kPageRows;
  for_each_vector_target([&] {
    for (const int head_dim : kHeadDims) {
      for (const int keys : {1, 15, 16, 40}) {
        for (const int queries : {1, 6, 40}) {
          Operands operands({.queries = queries,
                             .keys = keys,
                             .head_dim = head_dim,
                             .mask = queries <= keys ? Mask::causal : Mask::none});
          std::vector<std::uint16_t> pages[2];
          Tensor* const floats[2] = {&operands.key, &operands.value};
          for (int part = 0; part < 2; ++part) {
            pages[part].assign(static_cast<std::size_t>((keys + kPage - 1) / kPage * kPage * kHeads * head_dim),
                               0x7FC0);
            const Tensor halves = stored_as(*floats[part], DataType::bfloat16);
            copy_as_float(halves, 0, halves.elements(), floats[part]->data<float>());
            for (int j = 0; j < keys; ++j) {
              const int offset = ((j / kPage * kHeads + 1) * kPage + j % kPage) * head_dim;
              std::memcpy(&pages[part][static_cast<std::size_t>(offset)], halves.raw() + 2 * j * head_dim,
                          2 * static_cast<std::size_t>(head_dim));
            }
          }
          Tensor output = operands.output();
          HeadAttention head = operands.head(output);
          const auto rows = [&](const std::vector<std::uint16_t>& data) {
            return AttentionRows{.data = data.data(),
                                 .stride = head_dim,
                                 .page_gap = kPage * head_dim * (kHeads - 1),
                                 .head_stride = kPage * head_dim,
                                 .form = RowForm::bfloat16}
                .of_head(1);
          };
          head.keys = rows(pages[0]);
          head.values = rows(pages[1]);
          Operands::run(head, output);
          ASSERT_TRUE(same_bits(operands.run(), output))
              << queries << " queries, " << keys << " keys, head_dim " << head_dim;
        }
      }
    }
  });
}

TEST(Attention, WritesOnlyItsOwnColumns) {
  for_each_vector_target([] {
    for (const int head_dim : kHeadDims) {
      const Operands operands({7, 12, head_dim});
      Tensor wide = Tensor::allocate({7, 2 * head_dim});
      std::fill_n(wide.data<float>(), wide.elements(), 7.0f);
      HeadAttention head = operands.head(wide);
      Operands::run(head, wide);
      for (int row = 0; row < 7; ++row) {
        for (int i = head_dim; i < 2 * head_dim; ++i) ASSERT_EQ(wide.row(row)[i], 7.0f) << "head_dim " << head_dim;
      }
    }
  });
}

TEST(Attention, WeightsAreThoseOfTheOutput) {
  for_each_vector_target([] {
    for (const HeadCase& c : head_cases()) {
      const Operands operands(c);
      Tensor output = operands.output(), weights = Tensor::allocate({c.queries, c.keys});
      HeadAttention head = operands.head(output);
      head.weights = weights.data<float>();
      Operands::run(head, output);
      for (int i = 0; i < c.queries; ++i) {
        const KeyRange seen = keys_seen(head, i);
        double sum = 0.0;
        for (int j = seen.first; j < seen.end; ++j) {
          sum += static_cast<double>(weights.row(i)[j]) * static_cast<double>(operands.value.row(j)[0]);
        }
        // Values are at most 1 and weights add up to 1, so each product and each sum is off by at most 2^-24.
        ASSERT_NEAR(output.row(i)[0], sum, 0x1p-24 * (c.keys + 3)) << describe(c) << ", query " << i;
      }
    }
  });
}

}  // namespace
}  // namespace encdec::kernels
