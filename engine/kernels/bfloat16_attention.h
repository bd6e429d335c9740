#pragma once

#include <cstddef>
#include <cstdint>

namespace encdec::kernels {

// The two products of attention for many queries of a head, by the AVX-512 instructions that sum products of pairs of
// bfloat16 in float32. What a query gets does not depend on the queries beside it.

// Queries that share each load of a key or a value.
inline constexpr int kBfloat16Queries = 6;

// Where the parts of a head lie, in pairs of bfloat16; rows of keys and values are filled up with zeros.
struct Bfloat16Head {
  int key_count = 0;
  int head_dim = 0;
  int value_dim = 0;

  static constexpr int kColumns = 64;  // of a panel
  static constexpr int kLargestDim = 256;

  int dim_pairs() const { return (head_dim + 1) / 2; }
  int key_panels() const { return (key_count + kColumns - 1) / kColumns; }
  int key_pairs() const { return key_panels() * kColumns / 2; }
  int value_panels() const { return (value_dim + kColumns - 1) / kColumns; }
  // Pairs of all keys, of all values, of a query, and of its weights.
  std::size_t keys() const { return static_cast<std::size_t>(key_panels() * kColumns) * dim_pairs(); }
  std::size_t values() const { return static_cast<std::size_t>(value_panels() * kColumns) * key_pairs(); }
};

// keys: of each panel of keys, dimensions 2i and 2i + 1 of one key after the other.
void pack_bfloat16_keys(const Bfloat16Head& head, const float* keys, std::ptrdiff_t stride, std::uint32_t* packed);
// values: of each panel of dimensions, those of values 2j and 2j + 1 for one dimension after the other.
void pack_bfloat16_values(const Bfloat16Head& head, const float* values, std::ptrdiff_t stride, std::uint32_t* packed);

// scores[q * stride + j] = scale * <query q, key j> for `count` queries, to the end of the last panel of keys.
void bfloat16_scores(const Bfloat16Head& head, const float* const* queries, int count, const std::uint32_t* keys,
                     float scale, float* scores, std::ptrdiff_t stride);
// outputs[q][i] = normalizers[q] * sum_j weights[q * stride + j] * value j [i]. The weights' place is overwritten, also
// to the end of the last panel of keys.
void bfloat16_weighted_values(const Bfloat16Head& head, float* weights, std::ptrdiff_t stride, int count,
                              const float* normalizers, const std::uint32_t* values, float* const* outputs);

}  // namespace encdec::kernels
