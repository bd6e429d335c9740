#include "encdec/models/checkpoint/tensor_layout.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "encdec/engine/base/checked_math.h"
#include "encdec/engine/base/refuse.h"

namespace encdec {
namespace {

// Each row: bits, type, name in safetensors, name in NumPy, torch's dtype, torch's storage class.
constexpr std::array kStoredTypes = {
    StoredType{32, DataType::float32, "F32", "<f4", "float32", "FloatStorage"},
    StoredType{16, DataType::float16, "F16", "<f2", "float16", "HalfStorage"},
    StoredType{16, DataType::bfloat16, "BF16", "", "bfloat16", "BFloat16Storage"},
    StoredType{64, DataType::float64, "F64", "<f8", "float64", "DoubleStorage"},
    StoredType{8, DataType::int8, "I8", "|i1", "int8", "CharStorage"},
    StoredType{16, DataType::int16, "I16", "<i2", "int16", "ShortStorage"},
    StoredType{32, DataType::int32, "I32", "<i4", "int32", "IntStorage"},
    StoredType{64, DataType::int64, "I64", "<i8", "int64", "LongStorage"},
    StoredType{8, DataType::uint8, "U8", "|u1", "uint8", "ByteStorage"},
    StoredType{8, DataType::boolean, "BOOL", "|b1", "bool", "BoolStorage"},
    StoredType{16, {}, "U16", "<u2", "uint16"},
    StoredType{32, {}, "U32", "<u4", "uint32"},
    StoredType{64, {}, "U64", "<u8", "uint64"},
    StoredType{64, {}, "C64", "<c8", "complex64", "ComplexFloatStorage"},
    StoredType{128, {}, "", "<c16", "complex128", "ComplexDoubleStorage"},
    StoredType{128, {}, "", "<f16"},
    StoredType{8, {}, "F8_E4M3", "", "float8_e4m3fn"},
    StoredType{8, {}, "F8_E5M2", "", "float8_e5m2"},
    StoredType{8, {}, "F8_E8M0", "", "float8_e8m0fnu"},
    StoredType{8, {}, "F8_E4M3FNUZ", "", "float8_e4m3fnuz"},
    StoredType{8, {}, "F8_E5M2FNUZ", "", "float8_e5m2fnuz"},
    StoredType{6, {}, "F6_E2M3"},
    StoredType{6, {}, "F6_E3M2"},
    StoredType{4, {}, "F4"},
};

// Copies the elements of a strided layout to `output`, in row-major order.
struct Gatherer {
  const StridedLayout& layout;
  std::size_t element_bytes;
  std::byte* output;

  // Copies all elements with the same first `axis` indices. `from` points to the first of these elements.
  void copy(const std::byte* from, std::size_t axis) {
    if (axis == layout.sizes.size()) {
      std::memcpy(output, from, element_bytes);
      output += element_bytes;
      return;
    }
    for (std::uint64_t i = 0; i < layout.sizes[axis]; ++i) {
      copy(from + i * layout.strides[axis] * element_bytes, axis + 1);
    }
  }
};

template <class T>
double value_as(const Tensor& tensor) {
  T value;
  std::memcpy(&value, tensor.raw(), sizeof(value));  // the tensor's data may be unaligned
  return static_cast<double>(value);
}

[[noreturn]] void refuse_value(const WeightStore& store, std::string_view name, std::string_view expected) {
  const Tensor& tensor = *store.find(name);
  refuse<WeightError>(store.origin(), "'{}' is {} of shape {}, expected {}", printable(name), to_string(tensor.type()),
                      to_string(tensor.shape()), expected);
}

}  // namespace

const StoredType* stored_type(std::string_view StoredType::*format, std::string_view name) {
  const auto found = std::ranges::find(kStoredTypes, name, format);
  return name.empty() || found == kStoredTypes.end() ? nullptr : &*found;
}

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

std::optional<std::uint64_t> stored_bits(const StoredType& type, std::span<const std::uint64_t> sizes) {
  const auto elements = checked_elements(sizes);
  return elements ? checked_multiply(*elements, type.bits) : std::nullopt;
}

std::optional<std::uint64_t> stored_bytes(const StoredType& type, std::span<const std::uint64_t> sizes) {
  const auto bits = stored_bits(type, sizes);
  return bits ? std::optional(*bits / 8) : std::nullopt;
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
  if (layout.strides.empty() || std::ranges::find(layout.sizes, 0u) != layout.sizes.end()) return true;
  std::uint64_t expected = 1;
  for (std::size_t axis = layout.sizes.size(); axis-- > 0;) {
    if (layout.sizes[axis] == 1) continue;  // the stride of an axis of size 1 is never used
    if (layout.strides[axis] != expected) return false;
    expected *= layout.sizes[axis];
  }
  return true;
}

Tensor stored_tensor(std::span<const std::byte> run, const StoredType& type, const StridedLayout& layout,
                     const std::shared_ptr<const void>& owner) {
  const std::uint64_t bytes = stored_bytes(type, layout.sizes).value();
  // A tensor with another type, or with too many dimensions, becomes a vector of bytes.
  DataType data_type = DataType::uint8;
  Shape shape{static_cast<Dim>(bytes)};
  if (type.type && layout.sizes.size() <= Shape::kMaxRank) {
    data_type = *type.type;
    const std::vector<Dim> dims(layout.sizes.begin(), layout.sizes.end());
    shape = Shape(std::span<const Dim>(dims));
  }
  if (is_row_major(layout)) {
    const std::uint64_t first = bytes == 0 ? 0 : layout.offset * type.bytes();
    // The cast is safe: callers only read the tensors of a store.
    return {const_cast<std::byte*>(run.data() + first), data_type, shape, owner};
  }
  Tensor copy = Tensor::allocate(shape, data_type);
  Gatherer{layout, type.bytes(), copy.raw()}.copy(run.data() + layout.offset * type.bytes(), 0);
  return copy;
}

std::optional<double> scalar(const WeightStore& store, std::string_view name) {
  const Tensor* tensor = store.find(name);
  if (tensor == nullptr) return std::nullopt;
  if (tensor->elements() == 1 && store.find_scale(name) == nullptr) {
    switch (tensor->type()) {
      case DataType::float32: return value_as<float>(*tensor);
      case DataType::float64: return value_as<double>(*tensor);
      case DataType::int8: return value_as<std::int8_t>(*tensor);
      case DataType::int16: return value_as<std::int16_t>(*tensor);
      case DataType::int32: return value_as<std::int32_t>(*tensor);
      case DataType::int64: return value_as<std::int64_t>(*tensor);
      case DataType::uint8:
      case DataType::boolean: return value_as<std::uint8_t>(*tensor);
      case DataType::float16:
      case DataType::bfloat16: {
        float value;
        copy_as_float(*tensor, 0, 1, &value);
        return value;
      }
    }
  }
  refuse_value(store, name, "one number");
}

std::optional<std::string> text(const WeightStore& store, std::string_view name) {
  const Tensor* tensor = store.find(name);
  if (tensor == nullptr) return std::nullopt;
  const bool is_bytes = tensor->type() == DataType::int8 || tensor->type() == DataType::uint8;
  if (!is_bytes || tensor->shape().rank() != 1 || store.find_scale(name) != nullptr) {
    refuse_value(store, name, "bytes of text");
  }
  std::string value(reinterpret_cast<const char*>(tensor->raw()), tensor->bytes());
  value.resize(value.find_last_not_of('\0') + 1);  // if there are only NUL bytes, npos + 1 is 0
  return value;
}

}  // namespace encdec
