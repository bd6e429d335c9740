#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "encdec/engine/base/tensor.h"

namespace encdec {

// Tensors of seeded random numbers: the same on every machine and with every standard library.
class RandomTensors {
 public:
  explicit RandomTensors(std::uint64_t seed) : bits_(seed) {}

  // Evenly distributed over [-limit, limit), stored as float32, float16 or bfloat16.
  Tensor uniform(const Shape& shape, double limit = 1.0, DataType type = DataType::float32);
  // Whole numbers of [-limit, limit], which all three types hold exactly up to a limit of 256: sums of products of them
  // are exact in float32, in any order, while they stay below 2^24.
  Tensor integers(const Shape& shape, int limit, DataType type = DataType::float32);
  // int32 of [0, limit).
  Tensor ids(std::int64_t count, std::int32_t limit);

  // Of [0, limit).
  int below(int limit) { return static_cast<int>(bits_() % static_cast<std::uint64_t>(limit)); }
  // 0 to count - 1 in random order.
  std::vector<int> permutation(int count);

 private:
  std::mt19937_64 bits_;
};

// A copy stored as another type of weight; values that the type cannot hold are cut off towards zero.
Tensor stored_as(const Tensor& floats, DataType type);

}  // namespace encdec
