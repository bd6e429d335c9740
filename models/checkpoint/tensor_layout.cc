#include "encdec/models/checkpoint/tensor_layout.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "encdec/engine/checked_math.h"

namespace encdec {
namespace {

// Copies the elements in row-major order.
void gather(std::span<const std::byte> run, std::size_t element_bytes, const StridedLayout& layout, std::byte* output) {
  const std::size_t rank = layout.sizes.size();
  std::vector<std::uint64_t> index(rank, 0);
  std::uint64_t position = layout.offset;
  for (;;) {
    std::memcpy(output, run.data() + position * element_bytes, element_bytes);
    output += element_bytes;
    // Counts up like a mileage counter, the last dimension first.
    std::size_t axis = rank;
    while (axis > 0) {
      --axis;
      position += layout.strides[axis];
      if (++index[axis] < layout.sizes[axis]) break;
      position -= layout.strides[axis] * layout.sizes[axis];
      index[axis] = 0;
      if (axis == 0) return;
    }
    if (rank == 0) return;
  }
}

}  // namespace

std::optional<std::uint64_t> checked_elements(std::span<const std::uint64_t> sizes) {
  std::uint64_t product = 1;
  for (const std::uint64_t size : sizes) {
    if (size == 0) continue;
    const auto next = checked_multiply(product, size);
    if (!next || *next > kMaxTensorElements) return std::nullopt;
    product = *next;
  }
  return std::ranges::find(sizes, 0u) == sizes.end() ? product : 0;
}

std::optional<std::uint64_t> extent(const StridedLayout& layout) {
  if (std::ranges::find(layout.sizes, 0u) != layout.sizes.end()) return 0;
  std::optional<std::uint64_t> end = checked_add<std::uint64_t>(layout.offset, 1);
  for (std::size_t axis = 0; axis < layout.sizes.size() && end; ++axis) {
    const auto span = checked_multiply(layout.sizes[axis] - 1, layout.strides[axis]);
    end = span ? checked_add(*end, *span) : std::nullopt;
  }
  return end;
}

bool is_row_major(const StridedLayout& layout) {
  if (std::ranges::find(layout.sizes, 0u) != layout.sizes.end()) return true;
  std::uint64_t expected = 1;
  for (std::size_t axis = layout.sizes.size(); axis-- > 0;) {
    if (layout.sizes[axis] == 1) continue;  // its stride is never used
    if (layout.strides[axis] != expected) return false;
    expected *= layout.sizes[axis];
  }
  return true;
}

Tensor stored_tensor(std::span<const std::byte> run, const StoredType& type, const StridedLayout& layout,
                     const std::shared_ptr<const void>& owner) {
  const std::uint64_t elements = *checked_elements(layout.sizes);
  DataType data_type = DataType::uint8;
  Shape shape{static_cast<Dim>(elements * type.bytes)};
  if (type.type && layout.sizes.size() <= Shape::kMaxRank) {
    data_type = *type.type;
    const std::vector<Dim> dims(layout.sizes.begin(), layout.sizes.end());
    shape = Shape(std::span<const Dim>(dims));
  }
  if (is_row_major(layout)) {
    const std::uint64_t first = elements == 0 ? 0 : layout.offset * type.bytes;
    // Tensors of a store are read-only: the mapping is too.
    return {const_cast<std::byte*>(run.data() + first), data_type, shape, owner};
  }
  Tensor copy = Tensor::allocate(shape, data_type);
  gather(run, static_cast<std::size_t>(type.bytes), layout, copy.raw());
  return copy;
}

}  // namespace encdec
