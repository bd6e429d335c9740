#include "encdec/models/session/source_key_values.h"

#include <algorithm>
#include <cstring>

namespace encdec {

// Returns the start of the first gap of at least `count` rows, or the end of the last source.
int SourceKeyValues::find_gap(int count) const {
  int end = 0;  // end of the source before the gap
  for (const int source : used_) {
    const Rows& next = rows_[static_cast<std::size_t>(source)];
    if (next.first - end >= count) break;
    end = next.first + next.count;
  }
  return end;
}

void SourceKeyValues::reserve(std::span<const Tensor> key_values, int rows) {
  const Dim capacity = tensors_.empty() ? 0 : tensors_.front().shape()[0];
  if (capacity >= rows) return;
  std::vector<Tensor> grown;
  for (std::size_t layer = 0; layer < key_values.size(); ++layer) {
    grown.push_back(Tensor::uninitialized({std::max<Dim>(rows, 2 * capacity), key_values[layer].width()},
                                          key_values[layer].type()));
    if (capacity > 0) std::memcpy(grown.back().raw(), tensors_[layer].raw(), tensors_[layer].bytes());
  }
  tensors_ = std::move(grown);  // set last, so that an exception leaves all layers unchanged
}

int SourceKeyValues::add(std::span<const Tensor> key_values, int first_row, int count) {
  const int first = find_gap(count);
  reserve(key_values, first + count);
  for (std::size_t layer = 0; layer < key_values.size(); ++layer) {
    const Tensor rows = key_values[layer].slice(first_row, count);
    std::memcpy(tensors_[layer].slice(first, count).raw(), rows.raw(), rows.bytes());
  }
  // Use the smallest free number for the source, and keep `used_` in the order of rows.
  auto free = std::ranges::find(rows_, 0, &Rows::count);
  if (free == rows_.end()) free = rows_.insert(free, Rows());
  const int source = static_cast<int>(free - rows_.begin());
  const auto after = std::ranges::upper_bound(used_, first, {}, [&](int other) { return rows(other).first; });
  used_.insert(after, source);
  *free = {first, count};
  return source;
}

void SourceKeyValues::remove(int source) {
  if (std::erase(used_, source) > 0) rows_[static_cast<std::size_t>(source)] = {};
}

void SourceKeyValues::remove_all() {
  used_.clear();
  rows_.clear();
}

}  // namespace encdec
