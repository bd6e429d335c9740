#include "encdec/engine/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "encdec/engine/error.h"

namespace encdec {
namespace {

std::span<const Dim> without_leading_ones(const Shape& shape) {
  std::span<const Dim> dims = shape.dims();
  while (!dims.empty() && dims.front() == 1) dims = dims.subspan(1);
  return dims;
}

// The value of a quantised tensor, as floats. The memory of files need not be aligned.
Tensor dequantize(const Tensor& tensor, const Tensor& scale) {
  Tensor result = Tensor::uninitialized(tensor.shape());
  std::vector<float> scales(static_cast<std::size_t>(scale.elements()));
  copy_as_float(scale, 0, scale.elements(), scales.data());
  const auto integer = [&](std::int64_t i) -> float {
    if (tensor.type() == DataType::int8) return static_cast<float>(static_cast<std::int8_t>(tensor.raw()[i]));
    std::int16_t value;
    std::memcpy(&value, tensor.raw() + i * 2, sizeof(value));
    return value;
  };
  for (std::int64_t row = 0; row < tensor.rows(); ++row) {
    const float divisor = scales[scales.size() == 1 ? 0 : static_cast<std::size_t>(row)];
    const std::int64_t first = row * tensor.width();
    for (std::int64_t i = first; i < first + tensor.width(); ++i) result.data<float>()[i] = integer(i) / divisor;
  }
  return result;
}

// Columns [first, first + count) of a matrix [K, N] as rows: [count, K], as floats.
Tensor transpose_columns(const Tensor& tensor, Dim first, Dim count) {
  const Dim inputs = tensor.rows();
  Tensor result = Tensor::uninitialized({count, inputs});
  std::vector<float> row(static_cast<std::size_t>(count));
  for (Dim i = 0; i < inputs; ++i) {
    copy_as_float(tensor, i * tensor.width() + first, count, row.data());
    for (Dim j = 0; j < count; ++j) result.row(j)[i] = row[static_cast<std::size_t>(j)];
  }
  return result;
}

}  // namespace

void WeightStore::add(std::string name, Tensor tensor) {
  const auto [position, added] = tensors_.emplace(std::move(name), std::move(tensor));
  if (!added) throw WeightError(fmt::format("{}: tensor '{}' is there twice", origin_, position->first));
}

void WeightStore::add(std::string name, Tensor tensor, Tensor scale) {
  if (tensor.type() != DataType::int8 && tensor.type() != DataType::int16) {
    throw WeightError(fmt::format("{}: tensor '{}' is stored as {} with a scale, expected int8 or int16", origin_, name,
                                  to_string(tensor.type())));
  }
  if (scale.type() != DataType::float32 || (scale.elements() != 1 && scale.elements() != tensor.rows())) {
    throw WeightError(fmt::format("{}: scale of tensor '{}' has type {} and shape {}, expected float32 [{}] or [1]",
                                  origin_, name, to_string(scale.type()), to_string(scale.shape()), tensor.rows()));
  }
  scales_.emplace(name, std::move(scale));
  add(std::move(name), std::move(tensor));
}

void WeightStore::add_memories_of(const WeightStore& other) {
  memories_.insert(memories_.end(), other.memories_.begin(), other.memories_.end());
}

void WeightStore::release(const Tensor& tensor) const {
  for (const auto& memory : memories_) memory->release({tensor.raw(), tensor.bytes()});
}

const Tensor* WeightStore::find_scale(std::string_view name) const {
  const auto found = scales_.find(name);
  return found == scales_.end() ? nullptr : &found->second;
}

const Tensor* WeightStore::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

WeightScope::WeightScope(std::shared_ptr<const WeightStore> store, WeightNames names, const PackOptions& pack)
    : store_(std::move(store)), names_(std::move(names)), pack_(pack), used_(std::make_shared<Usage>()) {}

WeightScope::WeightScope(std::shared_ptr<const WeightStore> store)
    : WeightScope(std::move(store), [](const std::string& canonical) { return std::vector<StoredName>{canonical}; }) {}

WeightScope WeightScope::operator/(std::string_view name) const {
  WeightScope deeper = *this;
  if (!deeper.path_.empty()) deeper.path_ += '.';
  deeper.path_ += name;
  return deeper;
}

// The first candidate that is stored; where none is, `stored` names them all.
const Tensor* WeightScope::find(std::string_view name, StoredName& stored) const {
  std::string all;
  for (StoredName& candidate : names_((*this / name).path_)) {
    if (const Tensor* tensor = store_->find(candidate.name)) {
      stored = std::move(candidate);
      return tensor;
    }
    all += fmt::format("{}{}", all.empty() ? "" : "' or '", candidate.name);
  }
  stored.name = all.empty() ? (*this / name).path_ : all;
  return nullptr;
}

bool WeightScope::has(std::string_view name) const {
  StoredName stored;
  return find(name, stored) != nullptr;
}

void WeightScope::release(std::string_view name) const {
  StoredName stored;
  if (const Tensor* tensor = find(name, stored)) store_->release(*tensor);
}

Tensor WeightScope::tensor(std::string_view name, const Shape& shape) const {
  StoredName stored;
  const Tensor* tensor = find(name, stored);
  const auto where = [&] { return fmt::format("{}: tensor '{}'", store_->origin(), stored.name); };
  const bool transposed = stored.transposed && shape.rank() == 2;
  Shape expected = shape;
  if (shape.rank() > 0 && (transposed || stored.parts > 1)) {
    const Dim outputs = shape[0] * stored.parts;
    expected = shape.rank() == 1 ? Shape{outputs} : transposed ? Shape{shape[1], outputs} : Shape{outputs, shape[1]};
  }
  if (tensor == nullptr)
    throw WeightError(fmt::format("{} is missing, expected shape {}", where(), to_string(expected)));
  const Tensor* scale = store_->find_scale(stored.name);
  if (!is_weight_type(tensor->type()) && scale == nullptr) {
    throw WeightError(
        fmt::format("{}: stored as {}, expected float32, float16 or bfloat16", where(), to_string(tensor->type())));
  }
  if (!std::ranges::equal(without_leading_ones(tensor->shape()), without_leading_ones(expected))) {
    throw WeightError(
        fmt::format("{}: shape {}, expected {}", where(), to_string(tensor->shape()), to_string(expected)));
  }
  {
    const std::lock_guard lock(used_->mutex);
    used_->names.insert(stored.name);
  }
  const Tensor whole = (scale != nullptr ? dequantize(*tensor, *scale) : *tensor).reshape(expected);
  const Dim count = shape.rank() == 0 ? 1 : shape[0];
  if (transposed) return transpose_columns(whole, stored.part * count, count);
  return stored.parts > 1 ? whole.slice(stored.part * count, count) : whole;
}

std::vector<std::string> WeightScope::unused() const {
  const std::lock_guard lock(used_->mutex);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : store_->tensors()) {
    if (!used_->names.contains(name)) names.push_back(name);
  }
  return names;
}

}  // namespace encdec
