#pragma once

#include <cstdint>

#include "encdec/engine/base/weights.h"

namespace encdec {

// Buckets of distances between a key and a query; the distances in a bucket share a bias (Raffel et al. 2020, section
// 2.1; Shaw et al. 2018).
struct RelativePositions {
  // Keys that a query sees.
  enum class Direction : std::uint8_t {
    both,      // keys before and after the query; each side has half of the buckets
    backward,  // keys before the query only, as in a decoder
  };

  int buckets = 0;                        // number of buckets; 0 means no bias
  int max_distance = 0;                   // this distance and all larger ones share a bucket
  Direction direction = Direction::both;  // keys that a query sees

  // Throws ShapeError unless buckets >= 4 and max_distance > buckets / 4; for Direction::backward, unless buckets >= 2
  // and max_distance > buckets / 2.
  void check() const;
};

// Returns the bucket of a key that is `distance` positions after the query; a negative distance is before the query.
// Small distances have a bucket each; larger ones share buckets, in logarithmic steps.
// Example: 32 buckets in both directions, max_distance 128.
//   distances 0 to -7:     buckets 0 to 7, one each
//   distances -8 to -127:  buckets 8 to 15
//   distances below -127:  bucket 15
//   distances 1, 2, ...:   16 more than the bucket of -1, -2, ...
int relative_position_bucket(int distance, const RelativePositions& options);

// Relative position bias of self-attention: one number for each head and each distance between key and query.
//   score_h(query i, key j) += weight[bucket(j - i), h]
// The biases of all distances from -max_distance to max_distance are looked up once, when the weights are loaded.
class RelativePositionBias {
 public:
  RelativePositionBias() = default;  // no bias
  // Takes weight [buckets, H]. Throws WeightError, naming the tensor, if it is missing or does not fit, and ShapeError
  // as RelativePositions::check() does.
  RelativePositionBias(const WeightScope& weights, const RelativePositions& options, int heads);

  // Returns the bias of a head at distance 0, as kernels::HeadAttention takes it; null if there is no bias. The biases
  // of distances -reach() to reach() lie around it; those of the next head lie 2 * reach() + 1 floats further.
  const float* of_head(int head) const { return table_.empty() ? nullptr : table_.row(head) + reach_; }
  int reach() const { return reach_; }  // largest distance in the table; larger ones have its bias

 private:
  Tensor table_;  // [H, 2 * reach + 1]
  int reach_ = 0;
};

}  // namespace encdec
