#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "encdec/engine/base/tensor.h"

namespace encdec {

// A type of ggml's quantised tensors (ggml: ggml-common.h): blocks of kGgmlBlock values that follow each other in a row
// share a scale, and some a smallest value, in half precision.
struct GgmlBlockType {
  std::int32_t number;    // in files
  std::string_view name;  // as ggml calls it
  std::uint64_t bytes;    // of a block
  void (*decode)(const std::byte* block, float* values);
};
inline constexpr std::uint64_t kGgmlBlock = 32;

// Null for a type that this library does not read.
const GgmlBlockType* ggml_block_type(std::int32_t number);

// The values of blocks as a float16 tensor: each is off by at most 2^-11 of itself, far less than by quantisation.
// `shape` has kGgmlBlock values for each block, and its rows are whole blocks.
Tensor decode_ggml_blocks(const GgmlBlockType& type, std::span<const std::byte> blocks, const Shape& shape);

}  // namespace encdec
