#include "encdec/models/checkpoint/ggml_blocks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#include "encdec/engine/base/cancellation.h"

namespace encdec {
namespace {

constexpr std::size_t kHalf = kGgmlBlock / 2;

// Reads the next number of a block, and advances `block`.
template <class T>
T take(const std::byte*& block) {
  T value;
  std::memcpy(&value, block, sizeof(value));
  block += sizeof(value);
  return value;
}

float take_half(const std::byte*& block) {
  return float16_to_float(take<std::uint16_t>(block));
}

// Returns 4 bits of a value. Each of the 16 bytes has bits of two values: the low ones are of value i, the high ones of
// value i + 16.
int low_bits(const std::byte* block, std::size_t value) {
  const int both = std::to_integer<int>(block[value % kHalf]);
  return value < kHalf ? both & 15 : both >> 4;
}

// value := scale * (bits - 8)
void decode_q4_0(const std::byte* block, float* values) {
  const float scale = take_half(block);
  for (std::size_t i = 0; i < kGgmlBlock; ++i) values[i] = static_cast<float>(low_bits(block, i) - 8) * scale;
}

// value := scale * bits + smallest
void decode_q4_1(const std::byte* block, float* values) {
  const float scale = take_half(block), smallest = take_half(block);
  for (std::size_t i = 0; i < kGgmlBlock; ++i) values[i] = static_cast<float>(low_bits(block, i)) * scale + smallest;
}

// Returns the 5 bits of a value. The fifth bits of all values come first in a block.
int five_bits(std::uint32_t fifth, const std::byte* block, std::size_t value) {
  return low_bits(block, value) | static_cast<int>(fifth >> value & 1) << 4;
}

// value := scale * (bits - 16)
void decode_q5_0(const std::byte* block, float* values) {
  const float scale = take_half(block);
  const auto fifth = take<std::uint32_t>(block);
  for (std::size_t i = 0; i < kGgmlBlock; ++i) values[i] = static_cast<float>(five_bits(fifth, block, i) - 16) * scale;
}

// value := scale * bits + smallest
void decode_q5_1(const std::byte* block, float* values) {
  const float scale = take_half(block), smallest = take_half(block);
  const auto fifth = take<std::uint32_t>(block);
  for (std::size_t i = 0; i < kGgmlBlock; ++i) {
    values[i] = static_cast<float>(five_bits(fifth, block, i)) * scale + smallest;
  }
}

// value := scale * (signed byte)
void decode_q8_0(const std::byte* block, float* values) {
  const float scale = take_half(block);
  for (std::size_t i = 0; i < kGgmlBlock; ++i) {
    values[i] = static_cast<float>(static_cast<std::int8_t>(block[i])) * scale;
  }
}

constexpr std::array<GgmlBlockType, 5> kBlockTypes = {{{2, "q4_0", 2 + kHalf, decode_q4_0},
                                                       {3, "q4_1", 4 + kHalf, decode_q4_1},
                                                       {6, "q5_0", 6 + kHalf, decode_q5_0},
                                                       {7, "q5_1", 8 + kHalf, decode_q5_1},
                                                       {8, "q8_0", 2 + kGgmlBlock, decode_q8_0}}};

// Returns the nearest IEEE 754 binary16 number; a tie goes to the even one.
std::uint16_t to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return sign | 0x7E00u;         // NaN
  if (magnitude >= (127u + 16) << 23) return sign | 0x7C00u;  // too large: infinity
  // Subnormal. The last bit of 0.5f has the value of the last bit of a subnormal binary16, so adding 0.5f rounds.
  if (magnitude < (127u - 14) << 23) {
    const float rounded = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign |
                                      (std::bit_cast<std::uint32_t>(rounded) - std::bit_cast<std::uint32_t>(0.5f)));
  }
  magnitude += 0xFFFu + (magnitude >> 13 & 1);
  return static_cast<std::uint16_t>(sign | ((magnitude - ((127u - 15) << 23)) >> 13));
}

}  // namespace

const GgmlBlockType* ggml_block_type(std::int32_t number) {
  const auto found = std::ranges::find(kBlockTypes, number, &GgmlBlockType::number);
  return found != kBlockTypes.end() ? &*found : nullptr;
}

Tensor decode_ggml_blocks(const GgmlBlockType& type, std::span<const std::byte> blocks, const Shape& shape) {
  Tensor tensor = Tensor::uninitialized(shape, DataType::float16);
  assert(blocks.size() / type.bytes * kGgmlBlock * 2 == tensor.bytes());
  std::array<float, kGgmlBlock> values;
  std::array<std::uint16_t, kGgmlBlock> halves;
  std::byte* to = tensor.raw();
  for (std::size_t at = 0; at < blocks.size(); at += type.bytes) {
    poll_cancelled();
    type.decode(blocks.data() + at, values.data());
    std::ranges::transform(values, halves.begin(), to_float16);
    std::memcpy(to, halves.data(), sizeof(halves));
    to += sizeof(halves);
  }
  return tensor;
}

}  // namespace encdec
