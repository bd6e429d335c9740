#pragma once

#include <cassert>
#include <cstddef>
#include <memory>

#include "encdec/engine/base/dtype.h"
#include "encdec/engine/base/shape.h"

namespace encdec {

// The C++ type that holds an element of a DataType.
template <class T>
struct DataTypeOf;
template <>
// What layers compute with.
struct DataTypeOf<float> {
  static constexpr DataType value = DataType::float32;  // what they are stored as
};
template <>
// Token ids and numbers of steps.
struct DataTypeOf<std::int32_t> {
  static constexpr DataType value = DataType::int32;  // what they are stored as
};

// A dense row-major array: a view of memory, which it keeps alive where it has an owner. Copies share the memory.
// Tensors of the arena have no owner: they are valid until their RunState runs again.
class Tensor {
 public:
  static constexpr std::size_t kAlignment = 64;  // bytes: a cache line, and the widest vector
  // From so many on memory is in huge pages where there are some.
  static constexpr std::size_t kHugePageBytes = 2u << 20;

  Tensor() = default;
  // A view of `data`, kept alive by `owner` if there is one.
  Tensor(void* data, DataType type, const Shape& shape, std::shared_ptr<const void> owner = nullptr)
      : data_(static_cast<std::byte*>(data)), shape_(shape), type_(type), owner_(std::move(owner)) {}

  // Owns new memory, aligned to kAlignment, zeroed.
  static Tensor allocate(const Shape& shape, DataType type = DataType::float32);
  // The same without zeros: memory that is not written to costs nothing.
  static Tensor uninitialized(const Shape& shape, DataType type = DataType::float32);

  const Shape& shape() const { return shape_; }                // the outermost dimension first
  DataType type() const { return type_; }                      // of an element
  bool empty() const { return data_ == nullptr; }              // whether it has no memory
  std::int64_t elements() const { return shape_.elements(); }  // the product of the dimensions
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_of(type_); }  // of all elements

  // Rows are everything but the last dimension: a [B, T, D] tensor has B*T rows of width D.
  std::int64_t width() const { return shape_.rank() == 0 ? 1 : shape_.last(); }
  std::int64_t rows() const { return width() == 0 ? 0 : elements() / width(); }  // B*T of those

  std::byte* raw() { return data_; }              // the first element, whatever its type
  const std::byte* raw() const { return data_; }  // the same to read
  // The elements, of the type that they are stored as.
  template <class T>
  T* data() {
    assert(type_ == DataTypeOf<T>::value);
    return reinterpret_cast<T*>(data_);
  }
  // The same to read.
  template <class T>
  const T* data() const {
    assert(type_ == DataTypeOf<T>::value);
    return reinterpret_cast<const T*>(data_);
  }

  // Row `index` of a float32 tensor.
  float* row(std::int64_t index) { return data<float>() + index * width(); }
  const float* row(std::int64_t index) const { return data<float>() + index * width(); }  // the same to read

  // Rows [first, first + count) of the first dimension, as a view that shares the owner.
  // Throws ShapeError if they are not all there.
  Tensor slice(std::int64_t first, std::int64_t count) const;
  // The same elements under another shape of equal size. Throws ShapeError otherwise.
  Tensor reshape(const Shape& shape) const;

 private:
  std::byte* data_ = nullptr;
  Shape shape_;
  DataType type_ = DataType::float32;
  std::shared_ptr<const void> owner_;
};

// Writes elements [first, first + count) of a tensor stored as float32, float16 or bfloat16 as floats.
// The source need not be aligned: files guarantee nothing. Throws WeightError for other types.
void copy_as_float(const Tensor& tensor, std::int64_t first, std::int64_t count, float* output);

// The whole tensor, likewise, as a float32 tensor with memory of its own.
Tensor as_float(const Tensor& tensor);

}  // namespace encdec
