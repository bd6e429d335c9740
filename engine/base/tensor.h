#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "encdec/engine/base/dtype.h"
#include "encdec/engine/base/shape.h"

namespace encdec {

// C++ types of elements: float for activations and computed results, std::int32_t for token ids and step numbers.
template <class T>
concept TensorElement = std::same_as<T, float> || std::same_as<T, std::int32_t>;
template <TensorElement T>
inline constexpr DataType kDataTypeOf = std::same_as<T, float> ? DataType::float32 : DataType::int32;

// A dense row-major array. A tensor is a view of memory; if it has an owner, the view keeps the memory alive. Copies
// share the memory. Tensors in an arena have no owner: they are valid until their RunState runs again.
class Tensor {
 public:
  static constexpr std::size_t kAlignment = 64;  // bytes: a cache line, and the widest vector
  // Minimum size in bytes for which huge pages are requested.
  static constexpr std::size_t kHugePageBytes = 2u << 20;
  // Returns `bytes` rounded up to a multiple of kAlignment.
  static constexpr std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

  Tensor() = default;
  // A view of `data`, which `owner` keeps alive if it is not null.
  Tensor(void* data, DataType type, const Shape& shape, std::shared_ptr<const void> owner = nullptr)
      : data_(static_cast<std::byte*>(data)), shape_(shape), type_(type), owner_(std::move(owner)) {}

  // Returns a tensor that owns new memory, aligned to kAlignment and filled with zeros.
  static Tensor allocate(const Shape& shape, DataType type = DataType::float32);
  // The same without zeros. Pages that are never written use no physical memory.
  static Tensor uninitialized(const Shape& shape, DataType type = DataType::float32);
  // The same for memory of any use: a tensor uint8 [bytes].
  static Tensor of_bytes(std::size_t bytes) { return uninitialized({static_cast<Dim>(bytes)}, DataType::uint8); }

  const Shape& shape() const { return shape_; }                // the outermost dimension first
  DataType type() const { return type_; }                      // element type
  bool empty() const { return data_ == nullptr; }              // true if the tensor has no memory
  std::int64_t elements() const { return shape_.elements(); }  // product of the dimensions
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_of(type_); }  // size in bytes

  // Size of the last dimension. A row is one index of all other dimensions: [B, T, D] has B * T rows of width D.
  std::int64_t width() const { return shape_.rank() == 0 ? 1 : shape_.last(); }
  std::int64_t rows() const { return width() == 0 ? 0 : elements() / width(); }  // number of rows

  std::byte* raw() { return data_; }              // first element, untyped
  const std::byte* raw() const { return data_; }  // first element, untyped
  // Return the first element. REQUIRES: T is the C++ type of the tensor's DataType.
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

  // Returns row `index`. REQUIRES: the tensor is float32.
  float* row(std::int64_t index) { return data<float>() + index * width(); }
  const float* row(std::int64_t index) const { return data<float>() + index * width(); }  // likewise

  // Returns indices [first, first + count) of the first dimension, as a view with the same owner. Throws ShapeError if
  // some of these indices do not exist.
  Tensor slice(std::int64_t first, std::int64_t count) const;
  // Returns a view of the same elements with another shape. Throws ShapeError if the numbers of elements differ.
  Tensor reshape(const Shape& shape) const;

 private:
  std::byte* data_ = nullptr;
  Shape shape_;
  DataType type_ = DataType::float32;
  std::shared_ptr<const void> owner_;
};

// Converts elements [first, first + count) of a float32, float16 or bfloat16 tensor to floats. The tensor's memory need
// not be aligned, since data in files may not be. Throws WeightError for other element types.
void copy_as_float(const Tensor& tensor, std::int64_t first, std::int64_t count, float* output);

// Returns the whole tensor as float32, in memory of its own. Throws WeightError like copy_as_float().
Tensor as_float(const Tensor& tensor);

}  // namespace encdec
