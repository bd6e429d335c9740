#pragma once

#include <cstddef>
#include <cstdint>

namespace encdec::kernels {

// The two matrix products of attention with AVX-512 BF16, which adds dot products of two bfloat16
// pairs to float32 accumulators. A query's result does not depend on the other queries of the call.

// Maximum number of queries in a call. The queries of a call share each load of a key or value.
inline constexpr int kBfloat16Queries = 6;

// Sizes of one head with keys and values packed in bfloat16. Keys are packed in panels of 64 keys,
// values in panels of 64 dimensions; the last panel may be narrower. A row of a panel has one pair
// per column: two dimensions of a key, or one dimension of two values. k3[4] is dimension 4 of key
// 3:
//
//   panel of keys    k0[0] k0[1]   k1[0] k1[1]   k2[0] k2[1]  ...  first row of pairs
//                    k0[2] k0[3]   k1[2] k1[3]   k2[2] k2[3]  ...  second row of pairs
//   panel of values  v0[0] v1[0]   v0[1] v1[1]   v0[2] v1[2]  ...  first row of pairs
//                    v2[0] v3[0]   v2[1] v3[1]   v2[2] v3[2]  ...  second row of pairs
//
// If head_dim is odd, the last pair of a key ends with a zero. If key_count is odd, the last value
// follows all panels, as value_dim single numbers.
struct Bfloat16Head {
  int key_count = 0;
  int head_dim = 0;
  int value_dim = 0;

  static constexpr int kColumns = 64;  // columns of a panel
  static constexpr int kLargestDim = 256;

  int dim_pairs() const { return (head_dim + 1) / 2; }
  // Distance between the scores of neighbouring queries, in floats.
  int score_stride() const { return (key_count + kColumns - 1) / kColumns * kColumns; }
  // Sizes of the packed keys and of the packed values, in 16-bit numbers.
  std::size_t keys() const { return 2 * static_cast<std::size_t>(key_count) * static_cast<std::size_t>(dim_pairs()); }
  std::size_t values() const { return static_cast<std::size_t>(key_count) * static_cast<std::size_t>(value_dim); }
};

// Pack key_count keys of head_dim floats, or values of value_dim floats, `stride` floats apart.
void pack_bfloat16_keys(const Bfloat16Head& head, const float* keys, std::ptrdiff_t stride, std::uint16_t* packed);
void pack_bfloat16_values(const Bfloat16Head& head, const float* values, std::ptrdiff_t stride, std::uint16_t* packed);

// scores[q * stride + j] = scale * <query q, key j> for `count` queries. Overwrites whole rows.
void bfloat16_scores(const Bfloat16Head& head, const float* const* queries, int count, const std::uint16_t* keys,
                     float scale, float* scores, std::ptrdiff_t stride);
// outputs[q][i] = normalizers[q] * sum_j weights[q * stride + j] * value_j[i]. Overwrites weights.
void bfloat16_weighted_values(const Bfloat16Head& head, float* weights, std::ptrdiff_t stride, int count,
                              const float* normalizers, const std::uint16_t* values, float* const* outputs);

}  // namespace encdec::kernels
