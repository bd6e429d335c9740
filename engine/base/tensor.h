#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "encdec/engine/base/dtype.h"
#include "encdec/engine/base/shape.h"

namespace encdec {

// C++ element types: float for activations, std::int32_t for token ids and step numbers.
template <class T>
concept TensorElement = std::same_as<T, float> || std::same_as<T, std::int32_t>;
template <TensorElement T>
inline constexpr DataType kDataTypeOf = std::same_as<T, float> ? DataType::float32 : DataType::int32;

// A dense row-major array: a view of memory, which the tensor may own. Copies share the memory. Tensors in an arena do
// not own their memory; they are valid until their RunState runs again.
class Tensor {
 public:
  static constexpr std::size_t kAlignment = 64;  // bytes: a cache line, and the widest vector
  // Minimum size in bytes of tensors that request huge pages.
  static constexpr std::size_t kHugePageBytes = 2u << 20;
  // Rounds up to a multiple of kAlignment.
  static constexpr std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

  Tensor() = default;
  // A view of `data`. `owner`, if not null, keeps the memory alive.
  Tensor(void* data, DataType type, const Shape& shape, std::shared_ptr<const void> owner = nullptr)
      : data_(static_cast<std::byte*>(data)), shape_(shape), type_(type), owner_(std::move(owner)) {}

  // Returns a zero-filled tensor that owns its memory.
  static Tensor allocate(const Shape& shape, DataType type = DataType::float32);
  // Like allocate(), but does not fill the memory with zeros. Pages that are never written use no physical memory.
  static Tensor uninitialized(const Shape& shape, DataType type = DataType::float32);
  // Like uninitialized(), for untyped memory: a tensor uint8 [bytes].
  static Tensor of_bytes(std::size_t bytes) { return uninitialized({static_cast<Dim>(bytes)}, DataType::uint8); }

  const Shape& shape() const { return shape_; }
  DataType type() const { return type_; }
  bool empty() const { return data_ == nullptr; }  // true if there is no memory
  std::int64_t elements() const { return shape_.elements(); }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_of(type_); }

  // The last dimension. The others together count rows: [B, T, D] has B * T rows of width D.
  std::int64_t width() const { return shape_.rank() == 0 ? 1 : shape_.last(); }
  std::int64_t rows() const { return width() == 0 ? 0 : elements() / width(); }

  // The first element, untyped.
  std::byte* raw() { return data_; }
  const std::byte* raw() const { return data_; }
  // REQUIRES: T is the C++ type of the tensor's DataType.
  template <TensorElement T>
  T* data() {
    assert(type_ == kDataTypeOf<T>);
    return reinterpret_cast<T*>(data_);
  }
  template <TensorElement T>
  const T* data() const {
    assert(type_ == kDataTypeOf<T>);
    return reinterpret_cast<const T*>(data_);
  }

  // REQUIRES: the tensor is float32.
  float* row(std::int64_t index) { return data<float>() + index * width(); }
  const float* row(std::int64_t index) const { return data<float>() + index * width(); }

  // Returns a view of indices [first, first + count) of the first dimension, with the same owner.
  // Throws ShapeError if an index does not exist.
  Tensor slice(std::int64_t first, std::int64_t count) const;
  // Returns the same elements with another shape. Throws ShapeError unless the sizes are equal.
  Tensor reshape(const Shape& shape) const;

 private:
  std::byte* data_ = nullptr;
  Shape shape_;
  DataType type_ = DataType::float32;
  std::shared_ptr<const void> owner_;
};

// Converts elements [first, first + count) to float32. The tensor's memory may be unaligned, as in
// a file. Throws WeightError unless is_weight_type().
void copy_as_float(const Tensor& tensor, std::int64_t first, std::int64_t count, float* output);

// Returns a float32 copy. Throws WeightError like copy_as_float().
Tensor as_float(const Tensor& tensor);

}  // namespace encdec
