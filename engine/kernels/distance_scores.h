#pragma once

#include <cstddef>

#include "encdec/engine/kernels/attention.h"

namespace encdec::kernels {

// Maximum number of queries in a call.
inline constexpr int kDistanceQueries = 256;

std::size_t distance_scratch(const HeadAttention& head);  // floats of scratch memory needed

// Computes the part of the scores that depends on distances, for queries [first, first + count):
//   scores[(i - first) * key_count + j] =
//       scale * (<query_i, distance_keys_{j - p_i}> + <distance_queries_{p_i - j}, key_j>)
void score_distances(const HeadAttention& head, int first, int count, float* scores, float* scratch);

}  // namespace encdec::kernels
