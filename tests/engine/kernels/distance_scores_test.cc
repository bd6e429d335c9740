#include "encdec/engine/kernels/distance_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "encdec/engine/backend/onednn.h"
#include "encdec/engine/kernels/bfloat16_attention.h"
#include "tests/engine/kernels/attention_fixture.h"
#include "tests/support/comparison.h"
#include "tests/support/vector_targets.h"

namespace encdec::kernels {
namespace {

// Rows of distances, where those beyond `near` share a row with their neighbours: 0 0 0 1 2 3 3 3.
struct Table {
  Tensor rows;
  std::vector<float> columns;
  std::vector<std::uint16_t> packed;
  std::vector<std::int32_t> row_of;
  int reach;

  Table(RandomTensors& random, int near, int reach_, int head_dim, bool in_bfloat16) : reach(reach_) {
    rows = random.uniform({2 * near + 1, head_dim});
    for (int d = -reach; d <= reach; ++d) row_of.push_back(std::clamp(d, -near, near) + near);
    const DistanceRows form = view();
    if (in_bfloat16) {
      const Bfloat16Head head{.key_count = form.count, .head_dim = head_dim};
      packed.resize(head.keys());
      pack_bfloat16_keys(head, rows.data<float>(), head_dim, packed.data());
    } else {
      columns.resize(static_cast<std::size_t>(head_dim * form.stride()), 1e30f);
      for (int n = 0; n < form.count; ++n) {
        for (int i = 0; i < head_dim; ++i) columns[static_cast<std::size_t>(i * form.stride() + n)] = rows.row(n)[i];
      }
    }
  }

  DistanceRows view() const {
    return {.columns = columns.empty() ? nullptr : columns.data(),
            .packed = packed.empty() ? nullptr : packed.data(),
            .count = static_cast<int>(rows.rows()),
            .row_of = row_of.data() + reach,
            .reach = reach};
  }
  const float* row(int distance) const { return rows.row(view().row_of_distance(distance)); }
};

double dot(const float* a, const float* b, int width) {
  double sum = 0;
  for (int i = 0; i < width; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

struct Sizes {
  int queries;
  int keys;
  int head_dim;
  int near;
  int reach;
};

// Compares all scores with the formula, for both tables or one of them.
void expect_formula(const Sizes& sizes, bool in_bfloat16, double tolerance) {
  RandomTensors random(1);
  const Operands operands({sizes.queries, sizes.keys, sizes.head_dim});
  Table of_keys(random, sizes.near, sizes.reach, sizes.head_dim, in_bfloat16);
  Table of_queries(random, sizes.near, sizes.reach, sizes.head_dim, in_bfloat16);
  Tensor output = Tensor::allocate(operands.query.shape());
  for (const auto& [has_keys, has_queries] : {std::pair(true, true), {true, false}, {false, true}}) {
    HeadAttention head = operands.head(output);
    if (has_keys) head.distance_keys = of_keys.view();
    if (has_queries) head.distance_queries = of_queries.view();
    const int past = sizes.keys - sizes.queries;
    for (int first = 0; first < sizes.queries; first += kDistanceQueries) {
      const int count = std::min(kDistanceQueries, sizes.queries - first);
      std::vector<float> scores(static_cast<std::size_t>(count * sizes.keys));
      std::vector<float> scratch(distance_scratch(head));
      score_distances(head, first, count, scores.data(), scratch.data());
      for (int i = first; i < first + count; ++i) {
        for (int j = 0; j < sizes.keys; ++j) {
          const int distance = j - (past + i);
          double expected = 0;
          if (has_keys) expected += dot(operands.query.row(i), of_keys.row(distance), sizes.head_dim);
          if (has_queries) expected += dot(operands.key.row(j), of_queries.row(-distance), sizes.head_dim);
          const auto index = static_cast<std::size_t>((i - first) * sizes.keys + j);
          ASSERT_NEAR(scores[index], expected * static_cast<double>(head.scale), tolerance)
              << "query " << i << ", key " << j << " of " << sizes.keys << ", head_dim " << sizes.head_dim;
        }
      }
    }
  }
}

constexpr Sizes kSizes[] = {{1, 1, 1, 1, 1},     {3, 3, 5, 2, 9},      {1, 40, 16, 3, 7},       {17, 17, 33, 40, 41},
                            {40, 50, 8, 5, 100}, {70, 70, 64, 64, 80}, {300, 300, 20, 30, 200}, {513, 520, 4, 1, 2}};

TEST(DistanceScores, FollowTheFormula) {
  for_each_vector_target([] {
    for (const Sizes& sizes : kSizes) expect_formula(sizes, false, 1e-5);
  });
}

TEST(DistanceScores, FollowTheFormulaInBfloat16) {
  if (!backend::instruction_sets().avx512_bfloat16) GTEST_SKIP() << "no AVX-512 BF16";
  // Each factor is off by at most 2^-9 of itself and at most 1; the scale is 1 / sqrt(head_dim).
  for (const Sizes& sizes : kSizes) expect_formula(sizes, true, 2 * 2 * 8.1 / 512);
}

TEST(Attention, AddsTheScoresOfDistances) {
  for_each_vector_target([] {
    for (const Sizes& sizes : kSizes) {
      RandomTensors random(3);
      const Operands operands({sizes.queries, sizes.keys, sizes.head_dim});
      const Table of_keys(random, sizes.near, sizes.reach, sizes.head_dim, false);
      const Table of_queries(random, sizes.near, sizes.reach, sizes.head_dim, false);
      Tensor expected = Tensor::allocate(operands.query.shape()), found = Tensor::allocate(operands.query.shape());
      HeadAttention head = operands.head(found), added = operands.head(expected);
      head.distance_keys = of_keys.view();
      head.distance_queries = of_queries.view();
      std::vector<float> scores(static_cast<std::size_t>(sizes.queries * sizes.keys));
      std::vector<float> scratch(distance_scratch(head));
      for (int first = 0; first < sizes.queries; first += kDistanceQueries) {
        score_distances(head, first, std::min(kDistanceQueries, sizes.queries - first),
                        scores.data() + static_cast<std::ptrdiff_t>(first) * sizes.keys, scratch.data());
      }
      added.added_scores = scores.data();
      Operands::run(head, found);
      Operands::run(added, expected);
      for (int i = 0; i < found.elements(); ++i) {
        ASSERT_NEAR(found.data<float>()[i], expected.data<float>()[i], 1e-6) << sizes.keys << " keys, number " << i;
      }
    }
  });
}

TEST(Attention, AddsGivenScores) {
  for_each_vector_target([] {
    for (const int count : {1, 5, 16, 40}) {
      const Operands biased({.queries = count, .keys = count, .head_dim = 16, .bias_reach = count});
      std::vector<float> scores;
      for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) scores.push_back(biased.bias.data<float>()[j - i + count]);
      }
      Tensor output = biased.output();
      HeadAttention head = biased.head(output);
      head.relative_bias = nullptr;
      head.added_scores = scores.data();
      EXPECT_TRUE(is_close_to(biased.expected(), Operands::run(head, output)));
    }
  });
}

}  // namespace
}  // namespace encdec::kernels
