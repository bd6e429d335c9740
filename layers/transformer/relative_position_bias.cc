#include "encdec/layers/transformer/relative_position_bias.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

// Returns the number of buckets per direction.
int directed_buckets(const RelativePositions& options) {
  return options.direction == RelativePositions::Direction::both ? options.buckets / 2 : options.buckets;
}

// Returns the number of buckets per direction that hold a single distance.
int exact_buckets(const RelativePositions& options) {
  return directed_buckets(options) / 2;
}

}  // namespace

void RelativePositions::check() const {
  const int fewest = direction == Direction::both ? 4 : 2;
  if (buckets < fewest) {
    throw ShapeError(fmt::format("{} relative position buckets, expected at least {}", buckets, fewest));
  }
  if (max_distance <= exact_buckets(*this)) {
    throw ShapeError(fmt::format("largest relative distance {} with {} buckets, expected more than {}", max_distance,
                                 buckets, exact_buckets(*this)));
  }
}

int relative_position_bucket(int distance, const RelativePositions& options) {
  const int buckets = directed_buckets(options), exact = exact_buckets(options);
  const bool after = options.direction == RelativePositions::Direction::both && distance > 0;
  const int base = after ? buckets : 0;
  const int length =
      options.direction == RelativePositions::Direction::both ? std::abs(distance) : std::max(0, -distance);
  // Each small distance has its own bucket. Larger distances share buckets in logarithmic steps.
  if (length < exact) return base + length;
  // Compute in float32, as in training. Double precision would assign some distances to other buckets.
  const float share = std::log(static_cast<float>(length) / static_cast<float>(exact)) /
                      static_cast<float>(std::log(static_cast<double>(options.max_distance) / exact));
  const int step = static_cast<int>(share * static_cast<float>(buckets - exact));
  return base + std::min(exact + step, buckets - 1);
}

RelativePositionBias::RelativePositionBias(const WeightScope& weights, const RelativePositions& options, int heads) {
  options.check();
  const Tensor stored = weights.tensor("weight", {options.buckets, heads});
  reach_ = options.max_distance;
  // Tabulate the biases of all distances within reach.
  table_ = Tensor::allocate({heads, 2 * Dim{reach_} + 1});
  for (int distance = -reach_; distance <= reach_; ++distance) {
    const float* biases = stored.row(relative_position_bucket(distance, options));
    for (int head = 0; head < heads; ++head) table_.row(head)[distance + reach_] = biases[head];
  }
}

}  // namespace encdec
