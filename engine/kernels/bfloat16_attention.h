#pragma once

#include <cstddef>
#include <cstdint>

namespace encdec::kernels {

// The two products of attention by the AVX-512 instructions that sum products of pairs of bfloat16 in float32. What a
// query gets does not depend on the queries beside it.

// Queries that share each load of a key or a value.
inline constexpr int kBfloat16Queries = 6;

// A head's keys and values as numbers of 16 bits, two of which make a pair.
struct Bfloat16Head {
  int key_count = 0;
  int head_dim = 0;
  int value_dim = 0;

  static constexpr int kColumns = 64;  // of a panel, but for the last one
  static constexpr int kLargestDim = 256;

  int dim_pairs() const { return (head_dim + 1) / 2; }
  // Floats from one query's scores to the next one's.
  int score_stride() const { return (key_count + kColumns - 1) / kColumns * kColumns; }
  // Numbers of all keys, in which those of odd dimensions have one more, and of all values.
  std::size_t keys() const { return 2 * static_cast<std::size_t>(key_count) * static_cast<std::size_t>(dim_pairs()); }
  std::size_t values() const { return static_cast<std::size_t>(key_count) * static_cast<std::size_t>(value_dim); }
};

// keys: of each panel of keys, dimensions 2i and 2i + 1 of one key after the other.
void pack_bfloat16_keys(const Bfloat16Head& head, const float* keys, std::ptrdiff_t stride, std::uint16_t* packed);
// values: of each panel of dimensions, those of values 2j and 2j + 1 for one dimension after the other; then the last
// value, if there is no other beside it.
void pack_bfloat16_values(const Bfloat16Head& head, const float* values, std::ptrdiff_t stride, std::uint16_t* packed);

// scores[q * stride + j] = scale * <query q, key j> for `count` queries, to the end of the stride.
void bfloat16_scores(const Bfloat16Head& head, const float* const* queries, int count, const std::uint16_t* keys,
                     float scale, float* scores, std::ptrdiff_t stride);
// outputs[q][i] = normalizers[q] * sum_j weights[q * stride + j] * value j [i]. The weights' place is overwritten, also
// to the end of the stride.
void bfloat16_weighted_values(const Bfloat16Head& head, float* weights, std::ptrdiff_t stride, int count,
                              const float* normalizers, const std::uint16_t* values, float* const* outputs);

}  // namespace encdec::kernels
