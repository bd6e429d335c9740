#include "encdec/engine/base/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

// Allocates memory, or throws OutOfMemory with the shape and size in the message.
void* take(std::size_t bytes, std::align_val_t alignment, const Shape& shape) {
  try {
    return ::operator new(bytes, alignment);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("out of memory: a tensor of shape {} takes {} bytes", to_string(shape), bytes));
  }
}

}  // namespace

Tensor Tensor::uninitialized(const Shape& shape, DataType type) {
  const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(type);
  // Reserve an extra alignment unit, so that an empty tensor has an address, too.
  const std::size_t reserved = bytes + kAlignment;
  const std::align_val_t alignment{reserved >= kHugePageBytes ? kHugePageBytes : kAlignment};
  void* memory = take(reserved, alignment, shape);
#if defined(__linux__)
  // Use huge pages. Every step reads all weights; with small pages, address translation would take much time.
  if (reserved >= kHugePageBytes) ::madvise(memory, reserved, MADV_HUGEPAGE);
#endif
  std::shared_ptr<const void> owner(
      memory, [alignment](const void* pointer) { ::operator delete(const_cast<void*>(pointer), alignment); });
  return {memory, type, shape, std::move(owner)};
}

Tensor Tensor::allocate(const Shape& shape, DataType type) {
  Tensor tensor = uninitialized(shape, type);
  std::memset(tensor.raw(), 0, tensor.bytes());
  return tensor;
}

Tensor Tensor::slice(std::int64_t first, std::int64_t count) const {
  if (shape_.rank() == 0 || first < 0 || count < 0 || first > shape_[0] - count) {
    throw ShapeError(std::to_string(count) + " rows from " + std::to_string(first) + " of a tensor of shape " +
                     to_string(shape_));
  }
  std::array<Dim, Shape::kMaxRank> dims{};
  std::copy(shape_.dims().begin(), shape_.dims().end(), dims.begin());
  const std::size_t row_bytes = shape_[0] == 0 ? 0 : bytes() / static_cast<std::size_t>(shape_[0]);
  dims[0] = count;
  const Shape sliced(std::span<const Dim>(dims.data(), static_cast<std::size_t>(shape_.rank())));
  return {data_ + static_cast<std::size_t>(first) * row_bytes, type_, sliced, owner_};
}

Tensor Tensor::reshape(const Shape& shape) const {
  if (shape.elements() != elements()) {
    throw ShapeError("shape " + to_string(shape_) + " cannot become " + to_string(shape) + ": the sizes differ");
  }
  return {data_, type_, shape, owner_};
}

void copy_as_float(const Tensor& tensor, std::int64_t first, std::int64_t count, float* output) {
  if (count == 0) return;  // both addresses may be null
  const std::byte* source = tensor.raw() + static_cast<std::size_t>(first) * size_of(tensor.type());
  const auto half = [source](std::int64_t i) {
    std::uint16_t bits;
    std::memcpy(&bits, source + i * 2, sizeof(bits));
    return bits;
  };
  switch (tensor.type()) {
    case DataType::float32: std::memcpy(output, source, static_cast<std::size_t>(count) * sizeof(float)); return;
    case DataType::float16:
      for (std::int64_t i = 0; i < count; ++i) output[i] = float16_to_float(half(i));
      return;
    case DataType::bfloat16:
      for (std::int64_t i = 0; i < count; ++i) output[i] = bfloat16_to_float(half(i));
      return;
    case DataType::float64:
      for (std::int64_t i = 0; i < count; ++i) {
        double value;
        std::memcpy(&value, source + i * 8, sizeof(value));
        output[i] = static_cast<float>(value);
      }
      return;
    default: throw WeightError(fmt::format("tensor stored as {}, expected {}", to_string(tensor.type()), kWeightTypes));
  }
}

Tensor as_float(const Tensor& tensor) {
  Tensor result = Tensor::allocate(tensor.shape());
  copy_as_float(tensor, 0, tensor.elements(), result.data<float>());
  return result;
}

}  // namespace encdec
