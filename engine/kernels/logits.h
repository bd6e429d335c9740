#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace encdec::kernels {

// log(sum_i exp(scores_i)), computed relative to the largest score. -infinity for scores that are all -infinity,
// not a number if one of them is.
float log_sum_exp(std::span<const float> scores);

// Index of the largest score, the first of equals; -1 where no score is above -infinity (all banned, or not a number).
std::int32_t arg_max(std::span<const float> scores);

// Indices of the `count` largest scores, the largest first and the smaller index first among equals. Fewer where so few
// are above -infinity. `indices` is overwritten.
void top_k(std::span<const float> scores, int count, std::vector<std::int32_t>& indices);

}  // namespace encdec::kernels
