#include "encdec/engine/base/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

std::span<const Dim> without_leading_ones(std::span<const Dim> dims) {
  while (!dims.empty() && dims.front() == 1) dims = dims.subspan(1);
  return dims;
}

// Without the trailing ones that are more than `rank` dimensions: those of convolutions of width 1.
std::span<const Dim> without_extra_trailing_ones(const Shape& shape, int rank) {
  std::span<const Dim> dims = shape.dims();
  while (std::ssize(dims) > rank && dims.back() == 1) dims = dims.first(dims.size() - 1);
  return dims;
}

// Scales are those of the rows as stored, so what has scales keeps its trailing ones.
bool fits(const Shape& stored, const Shape& expected, const Tensor* scale) {
  const std::span<const Dim> dims = without_leading_ones(expected.dims());
  if (std::ranges::equal(without_leading_ones(stored.dims()), dims)) return true;
  const std::span<const Dim> fewer = without_extra_trailing_ones(stored, expected.rank());
  return scale == nullptr && std::ranges::equal(without_leading_ones(fewer), dims);
}

// Elements [first, first + count) of a quantised tensor, all of one row. The memory of files need not be aligned.
void copy_dequantized(const Tensor& tensor, const Tensor& scale, Dim first, Dim count, float* output) {
  float divisor = 1.0f;
  copy_as_float(scale, scale.elements() == 1 ? 0 : first / tensor.width(), 1, &divisor);
  if (tensor.type() == DataType::int8) {
    const auto* integers = reinterpret_cast<const std::int8_t*>(tensor.raw()) + first;
    for (Dim i = 0; i < count; ++i) output[i] = static_cast<float>(integers[i]) / divisor;
    return;
  }
  for (Dim i = 0; i < count; ++i) {
    std::int16_t value;
    std::memcpy(&value, tensor.raw() + (first + i) * 2, sizeof(value));
    output[i] = value / divisor;
  }
}

// The value of a quantised tensor, as floats.
Tensor dequantize(const Tensor& tensor, const Tensor& scale) {
  Tensor result = Tensor::uninitialized(tensor.shape());
  for (std::int64_t row = 0; row < tensor.rows(); ++row) {
    copy_dequantized(tensor, scale, row * tensor.width(), tensor.width(), result.row(row));
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

WeightScope::Located WeightScope::locate(std::string_view name, const Shape& shape) const {
  Located found;
  StoredName& stored = found.stored;
  const Tensor* tensor = found.tensor = find(name, stored);
  const auto where = [&] { return fmt::format("{}: tensor '{}'", store_->origin(), stored.name); };
  found.transposed = stored.transposed && shape.rank() == 2;
  Shape& expected = found.shape = shape;
  if (shape.rank() > 0 && (found.transposed || stored.parts > 1)) {
    const Dim outputs = shape[0] * stored.parts;
    expected = shape.rank() == 1  ? Shape{outputs}
               : found.transposed ? Shape{shape[1], outputs}
                                  : Shape{outputs, shape[1]};
  }
  if (tensor == nullptr)
    throw WeightError(fmt::format("{} is missing, expected shape {}", where(), to_string(expected)));
  found.scale = store_->find_scale(stored.name);
  if (!is_weight_type(tensor->type()) && found.scale == nullptr) {
    throw WeightError(
        fmt::format("{}: stored as {}, expected float32, float16 or bfloat16", where(), to_string(tensor->type())));
  }
  if (!fits(tensor->shape(), expected, found.scale)) {
    throw WeightError(
        fmt::format("{}: shape {}, expected {}", where(), to_string(tensor->shape()), to_string(expected)));
  }
  const std::lock_guard lock(used_->mutex);
  used_->names.insert(stored.name);
  return found;
}

Tensor WeightScope::tensor(std::string_view name, const Shape& shape) const {
  const Located found = locate(name, shape);
  const Tensor whole =
      (found.scale != nullptr ? dequantize(*found.tensor, *found.scale) : *found.tensor).reshape(found.shape);
  const Dim count = shape.rank() == 0 ? 1 : shape[0];
  if (found.transposed) return transpose_columns(whole, found.stored.part * count, count);
  return found.stored.parts > 1 ? whole.slice(found.stored.part * count, count) : whole;
}

WeightMatrix WeightScope::matrix(std::string_view name, const Shape& shape) const {
  const Located found = locate(name, shape);
  WeightMatrix matrix;
  matrix.stored_ = found.tensor->reshape(found.shape);
  if (found.scale != nullptr) matrix.scale_ = *found.scale;
  matrix.transposed_ = found.transposed;
  matrix.first_ = found.stored.part * shape[0];
  matrix.outputs_ = shape[0];
  matrix.inputs_ = shape[1];
  matrix.store_ = store_;
  matrix.name_ = fmt::format("{}[{}{}:{}]", found.stored.name, found.transposed ? ":," : "", matrix.first_,
                             matrix.first_ + matrix.outputs_);
  return matrix;
}

WeightMatrix::WeightMatrix(const Tensor& tensor) : stored_(tensor) {
  if (tensor.shape().rank() != 2) {
    throw ShapeError(fmt::format("weight has shape {}, expected [N, K]", to_string(tensor.shape())));
  }
  if (!is_weight_type(tensor.type())) {
    throw WeightError(
        fmt::format("weight stored as {}, expected float32, float16 or bfloat16", to_string(tensor.type())));
  }
  outputs_ = tensor.shape()[0];
  inputs_ = tensor.shape()[1];
}

void WeightMatrix::copy_rows(Dim first, Dim count, float* rows) const {
  const auto copy = [this](Dim begin, Dim elements, float* output) {
    if (scale_.empty()) return copy_as_float(stored_, begin, elements, output);
    for (Dim i = 0; i < elements;) {  // row by row, since each has its scale
      const Dim part = std::min(elements - i, stored_.width() - (begin + i) % stored_.width());
      copy_dequantized(stored_, scale_, begin + i, part, output + i);
      i += part;
    }
  };
  if (!transposed_) return copy((first_ + first) * inputs_, count * inputs_, rows);
  std::vector<float> outputs(static_cast<std::size_t>(count));
  for (Dim i = 0; i < inputs_; ++i) {
    copy(i * stored_.width() + first_ + first, count, outputs.data());
    for (Dim j = 0; j < count; ++j) rows[j * inputs_ + i] = outputs[static_cast<std::size_t>(j)];
  }
}

void WeightMatrix::release_rows(Dim first, Dim count) const {
  if (store_ == nullptr) return;
  if (!transposed_) return store_->release(stored_.slice(first_ + first, count));
  // Each page holds a part of every output: they are done when the last one is.
  if (first_ + first + count == stored_.width()) store_->release(stored_);
}

bool WeightMatrix::is_same_as(const WeightMatrix& other) const {
  return stored_.raw() == other.stored_.raw() && stored_.type() == other.stored_.type() &&
         transposed_ == other.transposed_ && first_ == other.first_ && outputs_ == other.outputs_ &&
         inputs_ == other.inputs_;
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
