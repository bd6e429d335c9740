#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "encdec/engine/base/tensor.h"

namespace encdec {

// A type of ggml's quantised tensors (ggml-common.h in ggml). A row is cut into blocks of kGgmlBlock values. Each block
// has a scale, and in some types a minimum, both in half precision.
struct GgmlBlockType {
  std::int32_t number;    // number of the type in files
  std::string_view name;  // ggml's name
  std::uint64_t bytes;    // size of a block
  void (*decode)(const std::byte* block, float* values);
};
inline constexpr std::uint64_t kGgmlBlock = 32;

// Returns null for a type that is not supported.
const GgmlBlockType* ggml_block_type(std::int32_t number);

// Decodes blocks to a float16 tensor. Rounding to float16 changes a value by at most 2^-11 of itself, far less than
// quantisation does.
// REQUIRES: `shape` has kGgmlBlock values for each block, and its rows are whole blocks.
Tensor decode_ggml_blocks(const GgmlBlockType& type, std::span<const std::byte> blocks, const Shape& shape);

}  // namespace encdec
