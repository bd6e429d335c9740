#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "tests/support/naive_reference.h"

// The steps of attention for one member of a dense batch: scores, mask, weighted sum of the values. They extend the
// formulas of tests/support.
namespace encdec::reference {

inline constexpr double kRoundoff = 0x1p-24;  // relative error of one rounded operation

inline Matrix dot_product_scores(const Matrix& query, const Matrix& key, double divisor) {
  Matrix scores = linear(query, key, nullptr);
  for (std::size_t i = 0; i < scores.values.size(); ++i) {
    scores.values[i] /= divisor;
    // The divisor and the quotient are rounded.
    scores.errors[i] = scores.errors[i] / divisor;
    scores.errors[i] += 2 * kRoundoff * (std::abs(scores.values[i]) + scores.errors[i]);
  }
  return scores;
}

// Computes w tanh(q_i + k_j) + b. The rows of `query` and `key` are already projected. Shapes: weight [1, h], bias [1]
// or null.
inline Matrix additive_scores(const Matrix& query, const Matrix& key, const Matrix& weight, const Matrix* bias) {
  Matrix scores(query.rows, key.rows);
  for (std::int64_t i = 0; i < query.rows; ++i) {
    for (std::int64_t j = 0; j < key.rows; ++j) {
      const Matrix score = linear(tanh(add(query.slice_rows(i, 1), key.slice_rows(j, 1))), weight, bias);
      scores.at(i, j) = score.at(0, 0);
      scores.error(i, j) = score.error(0, 0);
    }
  }
  return scores;
}

// Sets the scores of each row to -1e6 from the row's length on.
inline Matrix mask_beyond(Matrix scores, std::span<const std::int32_t> lengths) {
  EXPECT_EQ(static_cast<std::int64_t>(lengths.size()), scores.rows);
  for (std::int64_t r = 0; r < scores.rows; ++r) {
    for (std::int64_t c = std::max(lengths[static_cast<std::size_t>(r)], 0); c < scores.columns; ++c) {
      scores.at(r, c) = -1e6;
      scores.error(r, c) = 0.0;
    }
  }
  return scores;
}

inline Matrix weighted_sum(const Matrix& weights, const Matrix& values) {
  EXPECT_EQ(weights.columns, values.rows);
  // Relative error of a sum of rounded products, in any order of additions.
  const double error_of_sum = static_cast<double>(values.rows) * kRoundoff * (1.0 + 0x1p-10);
  Matrix sums(weights.rows, values.columns);
  for (std::int64_t r = 0; r < sums.rows; ++r) {
    for (std::int64_t c = 0; c < sums.columns; ++c) {
      double magnitude = 0.0, inherited = 0.0;
      for (std::int64_t j = 0; j < values.rows; ++j) {
        const double w = std::abs(weights.at(r, j)), v = std::abs(values.at(j, c));
        sums.at(r, c) += weights.at(r, j) * values.at(j, c);
        inherited += w * values.error(j, c) + v * weights.error(r, j) + weights.error(r, j) * values.error(j, c);
        magnitude += (w + weights.error(r, j)) * (v + values.error(j, c));
      }
      sums.error(r, c) = inherited + error_of_sum * magnitude;
    }
  }
  return sums;
}

}  // namespace encdec::reference
