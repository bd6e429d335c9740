#pragma once

#include <cstdint>
#include <span>

namespace encdec {

// A key that determines one random number, so that numbers do not depend on the order of threads.
// with() returns a new key with a value mixed in (SplitMix64, Steele et al. 2014).
// Example: RandomKey(seed).with(step).with(row).uniform()
class RandomKey {
 public:
  explicit RandomKey(std::uint64_t seed) : state_(seed) {}

  RandomKey with(std::uint64_t value) const {
    RandomKey key(scramble(state_ + 0x9E3779B97F4A7C15u) ^ value);
    key.state_ = scramble(key.state_ + 0x9E3779B97F4A7C15u);
    return key;
  }
  RandomKey with(std::span<const std::int32_t> values) const {
    RandomKey key = with(values.size());
    for (const std::int32_t value : values) key = key.with(static_cast<std::uint64_t>(value));
    return key;
  }

  // Returns a number in the open interval (0, 1), so that its logarithm is finite.
  double uniform() const { return (static_cast<double>(state_ >> 12) + 0.5) * 0x1p-52; }

 private:
  static std::uint64_t scramble(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace encdec
