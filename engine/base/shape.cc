#include "encdec/engine/base/shape.h"

#include <algorithm>
#include <cassert>

#include "encdec/engine/base/error.h"

namespace encdec {

Dim Symbols::value(Dim dim) const {
  switch (dim) {
    case kBatch: return batch;
    case kSourceRows: return source_rows;
    case kTargetRows: return target_rows;
    default: return dim;
  }
}

Shape::Shape(std::initializer_list<Dim> dims) : Shape(std::span<const Dim>(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const Dim> dims) : rank_(static_cast<int>(dims.size())) {
  if (dims.size() > kMaxRank) {
    throw ShapeError("shape of " + std::to_string(dims.size()) + " dimensions, expected at most " +
                     std::to_string(kMaxRank));
  }
  std::copy(dims.begin(), dims.end(), dims_.begin());
}

Dim Shape::operator[](int axis) const {
  const int index = axis < 0 ? axis + rank_ : axis;
  assert(index >= 0 && index < rank_);
  return dims_[static_cast<std::size_t>(index)];
}

bool Shape::is_symbolic() const {
  return std::ranges::any_of(dims(), [](Dim dim) { return dim < 0; });
}

Shape Shape::bind(const Symbols& symbols) const {
  Shape bound = *this;
  for (Dim& dim : bound.dims_) dim = symbols.value(dim);
  return bound;
}

std::int64_t Shape::elements() const {
  assert(!is_symbolic());
  std::int64_t product = 1;
  for (const Dim dim : dims()) product *= dim;
  return product;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const Dim dim : shape.dims()) {
    if (text.size() > 1) text += ", ";
    switch (dim) {
      case kBatch: text += 'B'; break;
      case kSourceRows: text += 'S'; break;
      case kTargetRows: text += 'T'; break;
      default: text += std::to_string(dim);
    }
  }
  return text + "]";
}

}  // namespace encdec
