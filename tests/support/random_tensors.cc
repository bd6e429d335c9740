#include "tests/support/random_tensors.h"

#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace encdec {
namespace {

std::uint16_t to_bfloat16(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

// Rounds towards zero. Only for magnitudes below 2^16.
std::uint16_t to_float16(float value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(static_cast<double>(value)), &exponent);  // [0.5, 1)
  if (fraction == 0.0) return sign;
  if (exponent > 16) throw std::invalid_argument("too large for float16");
  if (exponent < -13) return static_cast<std::uint16_t>(sign | static_cast<int>(std::ldexp(fraction, exponent + 24)));
  const int mantissa = static_cast<int>(std::ldexp(fraction, 11)) - 1024;
  return static_cast<std::uint16_t>(sign | ((exponent + 14) << 10) | mantissa);
}

}  // namespace

Tensor stored_as(const Tensor& floats, DataType type) {
  if (type == DataType::float32) return floats;
  Tensor stored = Tensor::allocate(floats.shape(), type);
  auto* bits = reinterpret_cast<std::uint16_t*>(stored.raw());
  for (std::int64_t i = 0; i < floats.elements(); ++i) {
    const float value = floats.data<float>()[i];
    bits[i] = type == DataType::float16 ? to_float16(value) : to_bfloat16(value);
  }
  return stored;
}

Tensor RandomTensors::uniform(const Shape& shape, double limit, DataType type) {
  Tensor tensor = Tensor::allocate(shape);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const double unit = std::ldexp(static_cast<double>(bits_() >> 11), -53);  // [0, 1)
    tensor.data<float>()[i] = static_cast<float>(limit * (2.0 * unit - 1.0));
  }
  return stored_as(tensor, type);
}

Tensor RandomTensors::integers(const Shape& shape, int limit, DataType type) {
  Tensor tensor = Tensor::allocate(shape);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    tensor.data<float>()[i] = static_cast<float>(below(2 * limit + 1) - limit);
  }
  return stored_as(tensor, type);
}

Tensor RandomTensors::ids(std::int64_t count, std::int32_t limit) {
  Tensor tensor = Tensor::allocate({count}, DataType::int32);
  for (std::int64_t i = 0; i < count; ++i) tensor.data<std::int32_t>()[i] = below(limit);
  return tensor;
}

std::vector<int> RandomTensors::permutation(int count) {
  std::vector<int> order;
  for (int i = 0; i < count; ++i) {
    order.push_back(i);
    std::swap(order.back(), order[static_cast<std::size_t>(below(i + 1))]);
  }
  return order;
}

}  // namespace encdec
