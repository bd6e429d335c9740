#include "encdec/engine/key_value_cache.h"

#include <algorithm>
#include <cstring>

namespace encdec {

int CacheIndex::open() {
  int slot = static_cast<int>(slots_.size());
  if (free_slots_.empty()) {
    slots_.emplace_back();
    free_slots_.reserve(slots_.capacity());  // here, so that close() cannot fail
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  slots_[static_cast<std::size_t>(slot)].open = true;
  return slot;
}

void CacheIndex::append(int slot, int count) {
  std::vector<std::int32_t>& rows = slots_[static_cast<std::size_t>(slot)].rows;
  for (int i = 0; i < count; ++i) {
    if (rows.size() % kPageRows != 0) {
      rows.push_back(rows.back() + 1);
    } else if (!free_pages_.empty()) {
      rows.push_back(free_pages_.back() * kPageRows);
      free_pages_.pop_back();
    } else {
      const std::size_t pages = static_cast<std::size_t>(page_count_) + 1;
      if (free_pages_.capacity() < pages) free_pages_.reserve(2 * pages);  // here, so that close() cannot fail
      rows.push_back(page_count_ * kPageRows);
      ++page_count_;
    }
  }
}

void CacheIndex::close(int slot) {
  Slot& closed = slots_[static_cast<std::size_t>(slot)];
  if (!closed.open) return;
  for (std::size_t i = 0; i < closed.rows.size(); i += kPageRows) free_pages_.push_back(closed.rows[i] / kPageRows);
  closed.rows.clear();
  closed.open = false;
  free_slots_.push_back(slot);
}

void CacheIndex::close_all() {
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) close(static_cast<int>(slot));
}

void KeyValueCache::reserve(std::int64_t count, Dim width) {
  const std::int64_t rows = keys.empty() ? 0 : keys.shape()[0];
  if (count <= rows) return;
  const Shape shape{std::max(count, 2 * rows), width};
  Tensor grown_keys = Tensor::allocate(shape);
  Tensor grown_values = Tensor::allocate(shape);  // both or, if this throws, none
  if (rows > 0) {
    std::memcpy(grown_keys.raw(), keys.raw(), keys.bytes());
    std::memcpy(grown_values.raw(), values.raw(), values.bytes());
  }
  keys = std::move(grown_keys);
  values = std::move(grown_values);
}

}  // namespace encdec
