#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "encdec/engine/base/tensor.h"

namespace encdec {

// A generator of tensors with seeded random numbers: the same on every machine and with every standard library.
class RandomTensors {
 public:
  explicit RandomTensors(std::uint64_t seed) : bits_(seed) {}

  // Returns numbers that are uniformly distributed over [-limit, limit), stored as float32, float16 or bfloat16.
  Tensor uniform(const Shape& shape, double limit = 1.0, DataType type = DataType::float32);
  // Returns whole numbers in [-limit, limit]. Up to a limit of 256 all three types hold them exactly. Sums of products
  // of them are exact in float32, in any order, while the sums stay below 2^24.
  Tensor integers(const Shape& shape, int limit, DataType type = DataType::float32);
  // Returns int32 numbers in [0, limit).
  Tensor ids(std::int64_t count, std::int32_t limit);

  // Returns a number in [0, limit).
  int below(int limit) { return static_cast<int>(bits_() % static_cast<std::uint64_t>(limit)); }
  // Returns 0 to count - 1 in random order.
  std::vector<int> permutation(int count);

 private:
  std::mt19937_64 bits_;
};

// Returns a tensor of these values, which have the size of its type.
template <class T>
Tensor tensor_of(const Shape& shape, DataType type, const std::vector<T>& values) {
  Tensor tensor = Tensor::allocate(shape, type);
  std::memcpy(tensor.raw(), values.data(), tensor.bytes());
  return tensor;
}

// Converts a float32 tensor to another type of weight, rounding towards zero.
Tensor stored_as(const Tensor& floats, DataType type);

}  // namespace encdec
