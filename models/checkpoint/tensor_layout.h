#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "encdec/engine/base/tensor.h"

namespace encdec {

inline constexpr std::uint64_t kMaxTensorElements = INT64_MAX;

// The product of sizes that come from a file, 0 if one of them is; nullopt beyond kMaxTensorElements. Zeros are left
// out of the check, so that the product of any of the sizes fits too.
std::optional<std::uint64_t> checked_elements(std::span<const std::uint64_t> sizes);

// A type of elements in files: its size, and the DataType where there is one.
struct StoredType {
  std::uint64_t bits = 0;
  std::optional<DataType> type = {};
  // What formats call it; empty where they do not have it.
  std::string_view safetensors = {};
  std::string_view numpy = {};  // '<' for numbers of several bytes, which are little-endian, '|' for those of one
  std::string_view torch = {};  // its torch.dtype
  std::string_view torch_storage = {};  // the class of a storage of such elements

  std::uint64_t bytes() const { return bits / 8; }  // of types that take whole ones
};

// The type of this name in a format: stored_type(&StoredType::numpy, "<f4"). Null if there is none.
const StoredType* stored_type(std::string_view StoredType::*format, std::string_view name);

// What elements of these sizes take; nullopt beyond 64 bits.
std::optional<std::uint64_t> stored_bits(const StoredType& type, std::span<const std::uint64_t> sizes);
std::optional<std::uint64_t> stored_bytes(const StoredType& type, std::span<const std::uint64_t> sizes);

// Where the elements of a tensor lie in a run of elements: that with indices i... at offset + sum(i * stride).
struct StridedLayout {
  std::span<const std::uint64_t> sizes;
  std::span<const std::uint64_t> strides = {};  // as many; none where elements follow each other
  std::uint64_t offset = 0;
};

// One more than the last element that is used, 0 if there are none; nullopt where numbers overflow.
std::optional<std::uint64_t> extent(const StridedLayout& layout);

// Whether the elements follow each other in row-major order.
bool is_row_major(const StridedLayout& layout);

// A tensor over the bytes of a file, which `owner` keeps alive: a view where the layout is row-major, a copy otherwise.
// More than Shape::kMaxRank dimensions, and types that DataType does not have, give the bytes: uint8 [bytes]. The
// layout's extent must lie inside `run`.
Tensor stored_tensor(std::span<const std::byte> run, const StoredType& type, const StridedLayout& layout,
                     const std::shared_ptr<const void>& owner);

}  // namespace encdec
