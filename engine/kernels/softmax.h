#pragma once

#include <cstddef>

namespace encdec::kernels {

// What a masked score becomes: not -infinity, so that a row with nothing but masked scores has weights too.
inline constexpr float kMaskedScore = -1e6f;

// Floats that a row of so many scores takes in memory for masked_softmax(), which fills whole vectors.
constexpr std::size_t softmax_row(int count) {
  constexpr std::size_t kWidestVector = 16;
  return (static_cast<std::size_t>(count) + kWidestVector - 1) / kWidestVector * kWidestVector;
}

// Turns `count` scores into their softmax, those from `valid` on being kMaskedScore: in place, in softmax_row(count)
// floats. `valid` is in [0, count]. Masked ones weigh exactly 0,
// unless all others are near kMaskedScore or below it.
void masked_softmax(float* scores, int count, int valid);

}  // namespace encdec::kernels
