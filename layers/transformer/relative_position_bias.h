#pragma once

#include <cstdint>

#include "encdec/engine/base/weights.h"

namespace encdec {

// Buckets of distances from query to key; all distances in a bucket share a bias (Raffel et al.
// 2020, section 2.1; Shaw et al. 2018).
struct RelativePositions {
  enum class Direction : std::uint8_t {
    both,      // keys before and after the query; each side has half of the buckets
    backward,  // keys before the query only, as in a decoder
  };

  int buckets = 0;       // 0 means no bias
  int max_distance = 0;  // this and all larger distances share a bucket
  Direction direction = Direction::both;

  // Throws ShapeError unless buckets >= 4 and max_distance > buckets / 4. For Direction::backward, throws ShapeError
  // unless buckets >= 2 and max_distance > buckets / 2.
  void check() const;
};

// Returns the bucket of a key `distance` positions after the query (before it, if negative). Each small distance has
// its own bucket; larger distances share buckets in logarithmic steps. Example: 32 buckets in both directions,
// max_distance 128.
//   distances 0 to -7:     buckets 0 to 7, one each
//   distances -8 to -127:  buckets 8 to 15
//   distances below -127:  bucket 15
//   distances 1, 2, ...:   16 more than the bucket of -1, -2, ...
int relative_position_bucket(int distance, const RelativePositions& options);

// Relative position bias of self-attention: one number per head and distance.
//   score_h(query i, key j) += weight[bucket(j - i), h]
class RelativePositionBias {
 public:
  RelativePositionBias() = default;  // no bias
  // Takes weight [buckets, H]. Throws WeightError, naming the tensor, and ShapeError as
  // RelativePositions::check() does.
  RelativePositionBias(const WeightScope& weights, const RelativePositions& options, int heads);

  // Returns the address of the head's bias at distance 0 for kernels::HeadAttention, or null. Biases of distances
  // -reach() to reach() are before and after it. The next head's bias is 2 * reach() + 1 floats later.
  const float* of_head(int head) const { return table_.empty() ? nullptr : table_.row(head) + reach_; }
  int reach() const { return reach_; }  // largest distance; larger distances use its bias

 private:
  Tensor table_;  // [H, 2 * reach + 1]
  int reach_ = 0;
};

}  // namespace encdec
