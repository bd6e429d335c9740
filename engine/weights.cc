#include "encdec/engine/weights.h"

#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/error.h"

namespace encdec {
namespace {

std::span<const Dim> without_leading_ones(const Shape& shape) {
  std::span<const Dim> dims = shape.dims();
  while (!dims.empty() && dims.front() == 1) dims = dims.subspan(1);
  return dims;
}

}  // namespace

void WeightStore::add(std::string name, Tensor tensor) {
  const auto [position, added] = tensors_.emplace(std::move(name), std::move(tensor));
  if (!added) throw WeightError(fmt::format("{}: tensor '{}' is there twice", origin_, position->first));
}

const Tensor* WeightStore::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

WeightScope::WeightScope(std::shared_ptr<const WeightStore> store, WeightNames names, const PackOptions& pack)
    : store_(std::move(store)), names_(std::move(names)), pack_(pack), used_(std::make_shared<Usage>()) {}

WeightScope::WeightScope(std::shared_ptr<const WeightStore> store)
    : WeightScope(std::move(store), [](const std::string& canonical) { return std::vector{canonical}; }) {}

WeightScope WeightScope::operator/(std::string_view name) const {
  WeightScope deeper = *this;
  if (!deeper.path_.empty()) deeper.path_ += '.';
  deeper.path_ += name;
  return deeper;
}

// The first candidate that is stored; `stored_name` gets its name, or all candidates where none is.
const Tensor* WeightScope::find(std::string_view name, std::string& stored_name) const {
  const auto candidates = names_((*this / name).path_);
  for (const std::string& candidate : candidates) {
    if (const Tensor* tensor = store_->find(candidate)) {
      stored_name = candidate;
      return tensor;
    }
  }
  stored_name = candidates.empty() ? (*this / name).path_ : fmt::format("{}", fmt::join(candidates, "' or '"));
  return nullptr;
}

bool WeightScope::has(std::string_view name) const {
  std::string stored_name;
  return find(name, stored_name) != nullptr;
}

Tensor WeightScope::tensor(std::string_view name, const Shape& shape) const {
  std::string stored_name;
  const Tensor* tensor = find(name, stored_name);
  const std::string where = fmt::format("{}: tensor '{}'", store_->origin(), stored_name);
  if (tensor == nullptr) throw WeightError(fmt::format("{} is missing, expected shape {}", where, to_string(shape)));
  if (!is_weight_type(tensor->type())) {
    throw WeightError(
        fmt::format("{}: stored as {}, expected float32, float16 or bfloat16", where, to_string(tensor->type())));
  }
  if (!std::ranges::equal(without_leading_ones(tensor->shape()), without_leading_ones(shape))) {
    throw WeightError(fmt::format("{}: shape {}, expected {}", where, to_string(tensor->shape()), to_string(shape)));
  }
  const std::lock_guard lock(used_->mutex);
  used_->names.insert(stored_name);
  return tensor->reshape(shape);
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
