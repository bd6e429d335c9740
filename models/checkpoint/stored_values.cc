#include "encdec/models/checkpoint/stored_values.h"

#include <cstring>

#include "encdec/engine/base/refuse.h"

namespace encdec {
namespace {

template <class T>
double value_as(const Tensor& tensor) {
  T value;
  std::memcpy(&value, tensor.raw(), sizeof(value));  // the source may be unaligned
  return static_cast<double>(value);
}

[[noreturn]] void refuse_value(const WeightStore& store, std::string_view name, std::string_view expected) {
  const Tensor& tensor = *store.find(name);
  refuse<WeightError>(store.origin(), "'{}' is {} of shape {}, expected {}", printable(name), to_string(tensor.type()),
                      to_string(tensor.shape()), expected);
}

}  // namespace

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
  value.resize(value.find_last_not_of('\0') + 1);  // npos + 1 is 0
  return value;
}

}  // namespace encdec
