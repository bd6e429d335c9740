#pragma once

#include <cstddef>

namespace encdec::kernels {

// Score of a masked position. It is finite, so that a row in which all positions are masked has weights too.
inline constexpr float kMaskedScore = -1e6f;

// Returns the number of floats that masked_softmax() needs for a row of `count` scores: it works on whole vectors.
constexpr std::size_t softmax_row(int count) {
  constexpr std::size_t kWidestVector = 16;
  return (static_cast<std::size_t>(count) + kWidestVector - 1) / kWidestVector * kWidestVector;
}

// Replaces `count` scores by their softmax, in place. Scores from `valid` on are treated as kMaskedScore. Their weights
// are exactly 0, unless all other scores are near kMaskedScore or below it.
// REQUIRES: 0 <= valid <= count, and `scores` has space for softmax_row(count) floats.
void masked_softmax(float* scores, int count, int valid);

}  // namespace encdec::kernels
