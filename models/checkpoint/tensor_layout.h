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

// Returns the product of `sizes`; nullopt if it exceeds kMaxTensorElements. The product of the
// nonzero sizes must be within the limit even if another size is 0.
std::optional<std::uint64_t> checked_elements(std::span<const std::uint64_t> sizes);

// An element type in files, and its DataType if there is one.
struct StoredType {
  std::uint64_t bits = 0;
  std::optional<DataType> type = {};
  // The type's name in each format; empty if the format does not have it.
  std::string_view safetensors = {};
  std::string_view numpy = {};          // "<f4", "|i1": '<' for little-endian, '|' for single bytes
  std::string_view torch = {};          // torch.dtype
  std::string_view torch_storage = {};  // class of storages of this type

  std::uint64_t bytes() const { return bits / 8; }  // REQUIRES: bits % 8 == 0
};

// Returns the type with this name in a format: stored_type(&StoredType::numpy, "<f4"); or null.
const StoredType* stored_type(std::string_view StoredType::*format, std::string_view name);

// Return the size of a tensor in bits or bytes; nullopt if it overflows 64 bits.
std::optional<std::uint64_t> stored_bits(const StoredType& type, std::span<const std::uint64_t> sizes);
std::optional<std::uint64_t> stored_bytes(const StoredType& type, std::span<const std::uint64_t> sizes);

// The positions of a tensor's elements in a sequence of stored elements. Example: element (i, j) of
// a matrix is at offset + i * strides[0] + j * strides[1].
struct StridedLayout {
  std::span<const std::uint64_t> sizes;
  std::span<const std::uint64_t> strides = {};  // one per size; empty for row-major order
  std::uint64_t offset = 0;
};

// Returns how many stored elements the tensor spans: its last position + 1; nullopt on overflow.
std::optional<std::uint64_t> extent(const StridedLayout& layout);

// Returns true if the elements are in row-major order without gaps.
bool is_row_major(const StridedLayout& layout);

// Returns a tensor whose elements are in `run`, bytes of a file that `owner` keeps alive: a view if
// the layout is row-major, otherwise a copy. A tensor of more than Shape::kMaxRank dimensions, or
// of a type without a DataType, becomes uint8 [bytes]. REQUIRES: the extent lies in `run`.
Tensor stored_tensor(std::span<const std::byte> run, const StoredType& type, const StridedLayout& layout,
                     const std::shared_ptr<const void>& owner);

// Settings stored among the weights. Both functions return nullopt if there is no such tensor, and
// throw WeightError if it is of another kind.

// Returns a tensor of one element as a number; a boolean is 0 or 1.
std::optional<double> scalar(const WeightStore& store, std::string_view name);

// Returns the bytes of a tensor, int8 [N] or uint8 [N], as text without trailing NUL bytes.
std::optional<std::string> text(const WeightStore& store, std::string_view name);

}  // namespace encdec
