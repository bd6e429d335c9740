#include "encdec/engine/kernels/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/engine/kernels/attention_fixture.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
#include "tests/support/vector_targets.h"

namespace encdec::kernels {
namespace {

TEST(Attention, FollowsTheFormulaForEverySize) {
  for_each_vector_target([] {
    for (const int head_dim : kHeadDims) {
      for (int keys = 1; keys <= 70; keys += head_dim == 16 || head_dim == 5 ? 1 : 7) {
        const Operands operands(1, 1 + keys % 6, keys, head_dim);
        ASSERT_TRUE(is_close_to(operands.expected(), operands.run())) << keys << " keys, head_dim " << head_dim;
      }
      const Operands many(2, 9, 500, head_dim);
      EXPECT_TRUE(is_close_to(many.expected(), many.run())) << "head_dim " << head_dim;
    }
  });
}

TEST(Attention, QueriesThatAreAlwaysPassedAtOnceFollowTheFormula) {
  for_each_vector_target([] {
    for (const int head_dim : kHeadDims) {
      for (const int count : {1, 15, 16, 17, 19, 40, 100}) {
        for (const Mask mask : {Mask::none, Mask::causal}) {
          Operands operands(4, count, count, head_dim);
          operands.mask = mask;
          operands.all_queries_in_one_call = true;
          ASSERT_TRUE(is_close_to(operands.expected(), operands.run())) << count << " rows, head_dim " << head_dim;
        }
      }
    }
  });
}

TEST(Attention, ValuesMayHaveAnotherWidthThanKeys) {
  for_each_vector_target([] {
    for (const int head_dim : {1, 8, 33}) {
      for (const int value_dim : kHeadDims) {
        for (const int queries : {1, 6, 40}) {
          Operands operands(19, queries, 41, head_dim);
          operands.value = RandomTensors(20).uniform({41, value_dim});
          ASSERT_TRUE(is_close_to(operands.expected(), operands.run()))
              << queries << " queries, head_dim " << head_dim << ", value_dim " << value_dim;
        }
      }
    }
  });
}

TEST(Attention, EachCausalQuerySeesOneKeyMoreThanThePrevious) {
  for_each_vector_target([] {
    for (const int head_dim : kHeadDims) {
      for (const int queries : {1, 2, 5, 17, 40}) {
        for (const int past : {0, 1, 30}) {
          Operands operands(3, queries, queries + past, head_dim);
          operands.mask = Mask::causal;
          ASSERT_TRUE(is_close_to(operands.expected(), operands.run()))
              << queries << " queries, past " << past << ", head_dim " << head_dim;
        }
      }
    }
  });
}

TEST(Attention, KeysOutsideAWindowAreNotSeen) {
  for_each_vector_target([] {
    for (const int head_dim : {5, 64}) {
      for (const int window : {0, 1, 7, 40, 1000}) {
        for (const int queries : {1, 6, 16, 37, 100}) {
          for (const int past : {0, 31, -3}) {  // -3: the first queries may see no keys
            for (const auto& [mask, ahead] :
                 {std::pair(Mask::none, std::optional<int>()), {Mask::causal, {}}, {Mask::none, 0}, {Mask::none, 11}}) {
              Operands operands(21, queries, std::max(0, queries + past), head_dim);
              operands.mask = mask;
              operands.window = window;
              operands.ahead = ahead;
              const Tensor output = operands.run();
              const int seen = ahead && past < 0 ? *ahead : 0;  // queries before the first key that see it
              const int blind = queries + past <= 0 ? queries : std::max(0, -past - seen);
              if (blind == queries) continue;
              ASSERT_TRUE(is_close_to(operands.expected().slice_rows(blind, queries - blind),
                                      output.slice(blind, queries - blind)))
                  << queries << " queries, past " << past << ", window " << window << ", head_dim " << head_dim;
            }
          }
        }
      }
    }
  });
}

TEST(Attention, IndexedRowsMayLieInAnyOrder) {
  RandomTensors random(4);
  for_each_vector_target([&] {
    for (const int head_dim : kHeadDims) {
      for (const int keys : {1, 7, 33}) {
        const Operands operands(5, 6, keys, head_dim);
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
        Tensor output = Tensor::allocate(operands.query.shape());
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
          Operands operands(13, queries, keys, head_dim);
          operands.mask = queries <= keys ? Mask::causal : Mask::none;
          std::vector<std::uint16_t> pages[2];
          Tensor* const floats[2] = {&operands.key, &operands.value};
          for (int part = 0; part < 2; ++part) {
            pages[part].assign(static_cast<std::size_t>((keys + kPage - 1) / kPage * kPage * kHeads * head_dim),
                               0x7FC0);
            for (int j = 0; j < keys; ++j) {
              for (int i = 0; i < head_dim; ++i) {
                float& x = floats[part]->row(j)[i];
                std::uint32_t bits;
                std::memcpy(&bits, &x, sizeof(bits));
                bits &= 0xFFFF0000u;
                std::memcpy(&x, &bits, sizeof(bits));
                const int place = ((j / kPage * kHeads + 1) * kPage + j % kPage) * head_dim + i;
                pages[part][static_cast<std::size_t>(place)] = static_cast<std::uint16_t>(bits >> 16);
              }
            }
          }
          Tensor output = Tensor::allocate(operands.query.shape());
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
      const Operands operands(6, 7, 12, head_dim);
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

TEST(Attention, AQueryThatSeesNoKeyGivesZeros) {
  for_each_vector_target([] {
    for (const bool causal : {false, true}) {
      Operands operands(7, 3, 0, 20);
      operands.mask = causal ? Mask::causal : Mask::none;
      Tensor output = Tensor::allocate({3, 20});
      std::fill_n(output.data<float>(), output.elements(), 7.0f);
      Operands::run(operands.head(output), output);
      for (int i = 0; i < 60; ++i) ASSERT_EQ(output.data<float>()[i], 0.0f);
    }
  });
}

TEST(Attention, CausalQueriesBeforeTheFirstKeyGiveZeros) {
  for_each_vector_target([] {
    Operands operands(8, 5, 2, 20);
    operands.mask = Mask::causal;
    const Tensor output = operands.run();
    for (int i = 0; i < 3 * 20; ++i) ASSERT_EQ(output.data<float>()[i], 0.0f);
    EXPECT_TRUE(is_close_to(operands.expected().slice_rows(3, 2), output.slice(3, 2)));
  });
}

TEST(Attention, WeightsAreThoseOfTheOutput) {
  for_each_vector_target([] {
    for (const auto& [causal, window] : {std::pair(false, -1), {true, -1}, {false, 4}, {true, 9}}) {
      for (const int queries : {1, 4, 21}) {
        Operands operands(18, queries, 33, 16);
        operands.mask = causal ? Mask::causal : Mask::none;
        operands.window = window;
        Tensor output = Tensor::allocate(operands.query.shape());
        Tensor weights = Tensor::allocate({queries, 33});
        HeadAttention head = operands.head(output);
        head.weights = weights.data<float>();
        Operands::run(head, output);
        for (int i = 0; i < queries; ++i) {
          const KeyRange seen = keys_seen(head, i);
          for (int column = 0; column < 16; ++column) {
            double sum = 0.0;
            for (int j = seen.first; j < seen.end; ++j) {
              sum += static_cast<double>(weights.row(i)[j]) * static_cast<double>(operands.value.row(j)[column]);
            }
            // Values are at most 1 and weights add up to 1, so each product and each sum is off by at most 2^-24.
            ASSERT_NEAR(output.row(i)[column], sum, 0x1p-24 * (33 + 3)) << queries << " queries, query " << i;
          }
        }
      }
    }
  });
}

TEST(Attention, AddsTheBiasOfTheDistanceToEveryScore) {
  for_each_vector_target([] {
    for (const int reach : {1, 3, 20}) {
      RandomTensors random(14);
      const Tensor bias = random.uniform({2 * reach + 1}, 3.0);
      const auto bias_at = [&](int, std::int64_t distance) -> double {
        return bias.data<float>()[std::clamp<std::int64_t>(distance, -reach, reach) + reach];
      };
      for (const int keys : {1, 2, 7, 16, 37, 70}) {
        for (const bool causal : {false, true}) {
          Operands operands(15, causal ? std::min(keys, 5) : keys, keys, 16);
          operands.mask = causal ? Mask::causal : Mask::none;
          Tensor output = Tensor::allocate(operands.query.shape());
          HeadAttention head = operands.head(output);
          head.relative_bias = bias.data<float>() + reach;
          head.bias_reach = reach;
          EXPECT_TRUE(is_close_to(attention(Matrix(operands.query), Matrix(operands.key), Matrix(operands.value),
                                            {.mask = operands.mask, .bias = bias_at}),
                                  Operands::run(head, output)))
              << keys << " keys, reach " << reach;
        }
      }
    }
  });
}

}  // namespace
}  // namespace encdec::kernels
