#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace encdec::kernels {

// Returns log(sum_i exp(scores_i)), computed relative to the largest score. Returns -infinity if all scores are
// -infinity, NaN if a score is NaN.
float log_sum_exp(std::span<const float> scores);

// Returns the index of the largest score, the first of equal ones. Returns -1 if no score is above -infinity, that is,
// if all tokens are banned or NaN.
std::int32_t arg_max(std::span<const float> scores);

// Writes the indices of the `count` largest scores to `indices`, the largest score first; of equal scores the smaller
// index comes first. Writes fewer if fewer scores are above -infinity.
void top_k(std::span<const float> scores, int count, std::vector<std::int32_t>& indices);

}  // namespace encdec::kernels
