#include "encdec/engine/base/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

std::span<const Dim> without_leading_ones(std::span<const Dim> dims) {
  while (!dims.empty() && dims.front() == 1) dims = dims.subspan(1);
  return dims;
}

// Drops trailing dimensions of 1 while there are more than `rank` dimensions, as in weights of convolutions of width 1.
std::span<const Dim> without_extra_trailing_ones(const Shape& shape, int rank) {
  std::span<const Dim> dims = shape.dims();
  while (std::ssize(dims) > rank && dims.back() == 1) dims = dims.first(dims.size() - 1);
  return dims;
}

// Returns true if the shapes are equal except for leading and extra trailing dimensions of 1. With a scale, extra
// trailing dimensions are refused, because each element of the scale belongs to a row of the stored shape.
bool fits(const Shape& stored, const Shape& expected, const Tensor* scale) {
  const std::span<const Dim> dims = without_leading_ones(expected.dims());
  if (std::ranges::equal(without_leading_ones(stored.dims()), dims)) return true;
  const std::span<const Dim> fewer = without_extra_trailing_ones(stored, expected.rank());
  return scale == nullptr && std::ranges::equal(without_leading_ones(fewer), dims);
}

// Size in bytes of the buffer for reading a tensor in parts.
constexpr std::size_t kChunkBytes = std::size_t{32} << 10;

// Writes each integer divided by `divisor`. `integers` may be unaligned, as they are in a file.
void divide(DataType type, const std::byte* integers, std::span<float> output, float divisor) {
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (type == DataType::int8) {
      output[i] = static_cast<float>(static_cast<std::int8_t>(integers[i])) / divisor;
      continue;
    }
    std::int16_t value;
    std::memcpy(&value, integers + i * sizeof(value), sizeof(value));
    output[i] = value / divisor;
  }
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
  add(name, std::move(tensor));
  scales_.emplace(std::move(name), std::move(scale));
}

void WeightStore::add_files_of(const WeightStore& other) {
  files_.insert(files_.end(), other.files_.begin(), other.files_.end());
}

void WeightStore::read(std::span<const std::byte> bytes, std::byte* to) const {
  check_cancelled();
  // A tensor that is not in a file is in memory, and can be copied directly.
  const auto reads = [&](const auto& file) { return file->read(bytes, to); };
  if (std::ranges::none_of(files_, reads) && !bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
}

void WeightStore::read_as_float(const Tensor& tensor, Dim first, Dim count, float* output) const {
  const auto size = static_cast<Dim>(size_of(tensor.type()));
  const auto bytes = [&](Dim at, Dim elements) {
    return std::span(tensor.raw() + at * size, static_cast<std::size_t>(elements * size));
  };
  if (tensor.type() == DataType::float32) return read(bytes(first, count), reinterpret_cast<std::byte*>(output));
  // Convert other types in parts that fit the buffer.
  alignas(Tensor::kAlignment) std::array<std::byte, kChunkBytes> chunk;
  const Dim most = static_cast<Dim>(kChunkBytes) / size;
  for (Dim done = 0; done < count; done += most) {
    const Dim part = std::min(most, count - done);
    read(bytes(first + done, part), chunk.data());
    copy_as_float(Tensor(chunk.data(), tensor.type(), {part}), 0, part, output + done);
  }
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

// Returns the first candidate tensor that is in the store, and sets `stored` to this candidate. If no candidate is in
// the store, returns null and lists all candidates in stored.name.
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

WeightScope::Located WeightScope::locate(std::string_view name, const Shape& shape) const {
  Located found;
  StoredName& stored = found.stored;
  const Tensor* tensor = found.tensor = find(name, stored);
  const auto where = [&] { return fmt::format("{}: tensor '{}'", store_->origin(), stored.name); };
  found.transposed = stored.transposed && shape.rank() == 2;
  // `expected` is the shape of the whole stored tensor: of all parts, and transposed if it is stored transposed.
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
    throw WeightError(fmt::format("{}: stored as {}, expected {}", where(), to_string(tensor->type()), kWeightTypes));
  }
  if (!fits(tensor->shape(), expected, found.scale)) {
    throw WeightError(
        fmt::format("{}: shape {}, expected {}", where(), to_string(tensor->shape()), to_string(expected)));
  }
  const MutexLock lock(used_->mutex);
  used_->names.insert(stored.name);
  return found;
}

Tensor WeightScope::tensor(std::string_view name, const Shape& shape) const {
  const Located found = locate(name, shape);
  const Dim outputs = shape.rank() == 0 ? 1 : shape[0];
  const Dim width = outputs == 0 ? 0 : shape.elements() / outputs;
  WeightMatrix rows = matrix_of(found, {outputs, width});
  Tensor result = Tensor::uninitialized(shape);
  rows.copy_rows(0, outputs, result.data<float>());
  return result;
}

WeightMatrix WeightScope::matrix(std::string_view name, const Shape& shape) const {
  return matrix_of(locate(name, shape), shape);
}

WeightMatrix WeightScope::matrix_of(const Located& found, const Shape& shape) const {
  WeightMatrix matrix;
  const Dim rows = found.transposed ? shape[1] : shape[0] * found.stored.parts;
  matrix.stored_ = found.tensor->reshape({rows, rows == 0 ? 0 : found.tensor->elements() / rows});
  if (found.scale != nullptr) matrix.scale_ = *found.scale;
  matrix.transposed_ = found.transposed;
  matrix.first_ = found.stored.part * shape[0];
  matrix.outputs_ = shape[0];
  matrix.inputs_ = shape[1];
  matrix.store_ = store_;
  // PackedWeights may find the matrix under this name: the stored tensor with its range of rows or columns.
  matrix.name_ = fmt::format("{}[{}{}:{}]", found.stored.name, found.transposed ? ":," : "", matrix.first_,
                             matrix.first_ + matrix.outputs_);
  return matrix;
}

WeightMatrix::WeightMatrix(const Tensor& tensor) : stored_(tensor) {
  if (tensor.shape().rank() != 2) {
    throw ShapeError(fmt::format("weight has shape {}, expected [N, K]", to_string(tensor.shape())));
  }
  if (!is_weight_type(tensor.type())) {
    throw WeightError(fmt::format("weight stored as {}, expected {}", to_string(tensor.type()), kWeightTypes));
  }
  outputs_ = tensor.shape()[0];
  inputs_ = tensor.shape()[1];
}

// Converts elements [first, first + count) of the stored tensor to floats, and applies the scales.
void WeightMatrix::copy(Dim first, Dim count, float* output) const {
  if (count == 0) return;
  if (store_ == nullptr) return copy_as_float(stored_, first, count, output);
  if (scale_.empty()) return store_->read_as_float(stored_, first, count, output);
  std::array<std::byte, kChunkBytes> chunk;
  const Dim size = static_cast<Dim>(size_of(stored_.type())), most = static_cast<Dim>(kChunkBytes) / size;
  const Dim scale_width = stored_.elements() / scale_.elements();  // number of elements that share a scale
  for (Dim done = 0; done < count;) {
    // End each part where the buffer is full or where the next scale begins.
    const Dim at = first + done, part = std::min({count - done, most, scale_width - at % scale_width});
    float divisor = 1.0f;
    store_->read_as_float(scale_, at / scale_width, 1, &divisor);
    store_->read({stored_.raw() + at * size, static_cast<std::size_t>(part * size)}, chunk.data());
    divide(stored_.type(), chunk.data(), {output + done, static_cast<std::size_t>(part)}, divisor);
    done += part;
  }
}

void WeightMatrix::copy_rows(Dim first, Dim count, float* rows) const {
  if (!transposed_) return copy((first_ + first) * inputs_, count * inputs_, rows);
  // A stored row of a transposed matrix holds one weight of each output.
  std::vector<float> outputs(static_cast<std::size_t>(count));
  for (Dim i = 0; i < inputs_; ++i) {
    copy(i * stored_.width() + first_ + first, count, outputs.data());
    for (Dim j = 0; j < count; ++j) rows[j * inputs_ + i] = outputs[static_cast<std::size_t>(j)];
  }
}

float WeightMatrix::integer_factor(Dim row) const {
  if (scale_.empty() || transposed_ || stored_.type() != DataType::int8) return 0.0f;
  float factor = 0.0f;
  store_->read_as_float(scale_, scale_.elements() == 1 ? 0 : first_ + row, 1, &factor);
  return std::isfinite(factor) ? factor : 0.0f;
}

WeightMatrix WeightMatrix::part(Dim first, Dim count) const {
  WeightMatrix part = *this;
  part.outputs_ = count;
  part.first_ += first;
  if (!transposed_ || store_ == nullptr) return part;
  // The weights of the part are not contiguous, so copy them, converted to float32.
  part.stored_ = Tensor::uninitialized({inputs_, count});
  for (Dim i = 0; i < inputs_; ++i) copy(i * stored_.width() + part.first_, count, part.stored_.row(i));
  part.scale_ = {};
  part.store_ = nullptr;
  part.first_ = 0;
  return part;
}

bool WeightMatrix::is_same_as(const WeightMatrix& other) const {
  return stored_.raw() == other.stored_.raw() && stored_.type() == other.stored_.type() &&
         transposed_ == other.transposed_ && first_ == other.first_ && outputs_ == other.outputs_ &&
         inputs_ == other.inputs_;
}

std::vector<std::string> WeightScope::unused() const {
  const MutexLock lock(used_->mutex);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : store_->tensors()) {
    if (!used_->names.contains(name)) names.push_back(name);
  }
  return names;
}

}  // namespace encdec
