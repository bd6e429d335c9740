#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "encdec/engine/base/tensor.h"
#include "encdec/engine/base/weights.h"

namespace encdec {

inline constexpr std::uint64_t kMaxTensorElements = INT64_MAX;

// Returns the product of sizes from a file; nullopt if it exceeds kMaxTensorElements. If a size is zero the product is
// 0, but the product of the other sizes must still be within the limit.
std::optional<std::uint64_t> checked_elements(std::span<const std::uint64_t> sizes);

// A type of elements in files: its size, and its DataType if there is one.
struct StoredType {
  std::uint64_t bits = 0;
  std::optional<DataType> type = {};
  // The type's name in each format; empty if the format does not have the type.
  std::string_view safetensors = {};
  std::string_view numpy = {};          // "<f4", "|i1": '<' for little-endian, '|' for single bytes
  std::string_view torch = {};          // torch.dtype
  std::string_view torch_storage = {};  // class of a storage of these elements

  std::uint64_t bytes() const { return bits / 8; }  // REQUIRES: a type of whole bytes
};

// Returns the type of this name in a format: stored_type(&StoredType::numpy, "<f4"). Null if there is none.
const StoredType* stored_type(std::string_view StoredType::*format, std::string_view name);

// Returns the size of a tensor of these dimensions, in bits or in bytes; nullopt if the size does not fit 64 bits.
std::optional<std::uint64_t> stored_bits(const StoredType& type, std::span<const std::uint64_t> sizes);
std::optional<std::uint64_t> stored_bytes(const StoredType& type, std::span<const std::uint64_t> sizes);

// The positions of a tensor's elements in a run of elements. For a matrix, element (i, j) is at
// offset + i * strides[0] + j * strides[1].
struct StridedLayout {
  std::span<const std::uint64_t> sizes;
  std::span<const std::uint64_t> strides = {};  // one per size; empty for row-major order
  std::uint64_t offset = 0;
};

// Returns the length of the run that the tensor needs: the last used position + 1, or 0 for an empty tensor. Returns
// nullopt if that overflows.
std::optional<std::uint64_t> extent(const StridedLayout& layout);

// Returns whether the elements are in row-major order without gaps.
bool is_row_major(const StridedLayout& layout);

// Returns a tensor over the bytes `run` of a file, which `owner` keeps alive: a view if the layout is row-major, else a
// copy. A tensor of more than Shape::kMaxRank dimensions, or of a type that DataType does not have, becomes uint8
// [bytes]. REQUIRES: the layout's extent lies inside `run`.
Tensor stored_tensor(std::span<const std::byte> run, const StoredType& type, const StridedLayout& layout,
                     const std::shared_ptr<const void>& owner);

// Settings that some formats store among the weights. Both functions return nullopt if no tensor has this name, and
// throw WeightError if the tensor is of another kind.

// Returns a tensor of one element as a number; a boolean is 0 or 1.
std::optional<double> scalar(const WeightStore& store, std::string_view name);

// Returns the bytes of a tensor, int8 [N] or uint8 [N], as text without the zeros at its end.
std::optional<std::string> text(const WeightStore& store, std::string_view name);

}  // namespace encdec
