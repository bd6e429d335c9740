#pragma once

#include <cstdint>

#include "encdec/engine/base/weights.h"

namespace encdec {

// Which distances between a key and a query share a bias (Raffel et al. 2020, section 2.1; Shaw et al. 2018).
struct RelativePositions {
  // Which keys a query sees.
  enum class Direction : std::uint8_t {
    both,      // keys before and after the query: half of the buckets for each
    backward,  // keys before it: a decoder's
  };

  int buckets = 0;                        // 0 for no bias
  int max_distance = 0;                   // from here on all distances share a bucket
  Direction direction = Direction::both;  // which keys a query sees

  // Throws ShapeError unless there are at least 4 buckets (2 backward) and max_distance lies behind the distances that
  // have a bucket of their own.
  void check() const;
};

// The bucket of a key that stands `distance` positions after the query (before it, where negative): small distances
// have one each, larger ones share them, in logarithmic steps.
int relative_position_bucket(int distance, const RelativePositions& options);

// A bias for each head and each distance between key and query, added to the scores of self-attention: looked up once,
// when it is loaded, for all distances that differ.
class RelativePositionBias {
 public:
  RelativePositionBias() = default;  // no bias
  // Takes weight [buckets, H]. Throws WeightError, naming the tensor, and ShapeError; see RelativePositions.
  RelativePositionBias(const WeightScope& weights, const RelativePositions& options, int heads);

  // The bias at distance 0, between those of distances -reach() and reach(), for kernels::HeadAttention; the next
  // head's lie 2 * reach() + 1 floats behind. Null for none.
  const float* of_head(int head) const { return table_.empty() ? nullptr : table_.row(head) + reach_; }
  int reach() const { return reach_; }  // from this distance on all biases are the last one

 private:
  Tensor table_;  // [H, 2 * reach + 1]
  int reach_ = 0;
};

}  // namespace encdec
