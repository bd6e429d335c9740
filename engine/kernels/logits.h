#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace encdec::kernels {

// Returns log(sum_i exp(scores_i)): -infinity if all scores are -infinity, NaN if a score is NaN.
float log_sum_exp(std::span<const float> scores);

// Returns the index of the largest score, the first of equal ones; -1 if no score is above
// -infinity (all tokens are banned or NaN).
std::int32_t arg_max(std::span<const float> scores);

// Writes the indices of the `count` largest scores, in descending order of scores and then
// ascending order of indices. Writes fewer if fewer scores are above -infinity.
void top_k(std::span<const float> scores, int count, std::vector<std::int32_t>& indices);

}  // namespace encdec::kernels
