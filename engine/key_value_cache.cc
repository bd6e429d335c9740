#include "encdec/engine/key_value_cache.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "encdec/engine/backend/onednn.h"
#include "encdec/engine/kernels/quantization.h"

namespace encdec {
namespace {

// Returns the index of a free element. If no element is free, appends one. Reserves space in `free` for all elements,
// so that freeing an element never allocates.
template <class T>
int take(std::vector<T>& all, std::vector<int>& free) {
  if (!free.empty()) {
    const int index = free.back();
    free.pop_back();
    return index;
  }
  all.emplace_back();
  free.reserve(all.capacity());
  return static_cast<int>(all.size()) - 1;
}

}  // namespace

int CacheRows::open() {
  const int group = take(groups_, free_groups_);
  const int slot = take(slots_, free_slots_);
  groups_[static_cast<std::size_t>(group)].members = 1;
  slots_[static_cast<std::size_t>(slot)].group = group;
  return slot;
}

int CacheRows::fork(int slot) {
  const int copy = take(slots_, free_slots_);
  const Slot& original = slots_[static_cast<std::size_t>(slot)];
  slots_[static_cast<std::size_t>(copy)].rows = original.rows;
  slots_[static_cast<std::size_t>(copy)].group = original.group;
  ++groups_[static_cast<std::size_t>(original.group)].members;
  return copy;
}

// Returns a row for the group: a freed row, else the next row of the group's last page, else the
// first row of a new page.
std::int32_t CacheRows::next_row(ForkGroup& group) {
  if (!group.free_rows.empty()) {
    const std::int32_t row = group.free_rows.back();
    group.free_rows.pop_back();
    return row;
  }
  if (group.used == kPageRows) {
    if (free_pages_.empty()) {
      const std::size_t pages = static_cast<std::size_t>(page_count_) + 1;
      if (free_pages_.capacity() < pages) free_pages_.reserve(2 * pages);  // so that close() never allocates
      free_pages_.push_back(page_count_);
      ++page_count_;
    }
    group.pages.push_back(free_pages_.back());
    free_pages_.pop_back();
    group.used = 0;
  }
  return group.pages.back() * kPageRows + group.used++;
}

void CacheRows::append(int slot, int count) {
  Slot& extended = slots_[static_cast<std::size_t>(slot)];
  ForkGroup& group = groups_[static_cast<std::size_t>(extended.group)];
  if (has_window()) free_unseen_rows(extended.group);
  for (int i = 0; i < count; ++i) {
    const std::int32_t row = next_row(group);
    if (has_window()) group.taken.emplace_back(length(slot), row);
    extended.rows.push_back(row);
  }
}

// Frees the rows of positions that no later query of the fork group can see, even after shorten().
void CacheRows::free_unseen_rows(int group) {
  ForkGroup& its = groups_[static_cast<std::size_t>(group)];
  int shortest = std::numeric_limits<int>::max();
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].group == group) shortest = std::min(shortest, length(static_cast<int>(slot)));
  }
  const int seen = shortest - kMostDropped - window_;
  for (; !its.taken.empty() && its.taken.front().first <= seen; its.taken.pop_front()) {
    its.free_rows.push_back(its.taken.front().second);
  }
}

void CacheRows::shorten(int slot, int length) {
  Slot& shortened = slots_[static_cast<std::size_t>(slot)];
  ForkGroup& group = groups_[static_cast<std::size_t>(shortened.group)];
  // Free the last row first. next_row() reuses the row that was freed last, so reused rows are in the order of
  // positions.
  for (; this->length(slot) > length; shortened.rows.pop_back()) {
    const std::int32_t row = shortened.rows.back();
    group.free_rows.push_back(row);
    const auto is_dropped = [row](const auto& taken) { return taken.second == row; };
    if (const auto found = std::ranges::find_if(group.taken.rbegin(), group.taken.rend(), is_dropped);
        found != group.taken.rend()) {
      group.taken.erase(std::prev(found.base()));
    }
  }
}

void CacheRows::reorder(std::span<const int> slots, std::span<const int> parents) {
  // Copy the rows of all parents first, because a slot may also be a parent.
  if (reordered_.size() < slots.size()) reordered_.resize(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] != parents[i]) reordered_[i] = slots_[static_cast<std::size_t>(parents[i])].rows;
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] != parents[i]) slots_[static_cast<std::size_t>(slots[i])].rows.swap(reordered_[i]);
  }
}

void CacheRows::close(int slot) {
  Slot& closed = slots_[static_cast<std::size_t>(slot)];
  if (closed.group < 0) return;
  // If the fork group has no other sequence, free its pages.
  ForkGroup& group = groups_[static_cast<std::size_t>(closed.group)];
  if (--group.members == 0) {
    free_pages_.insert(free_pages_.end(), group.pages.begin(), group.pages.end());
    group.pages.clear();
    group.free_rows.clear();
    group.taken.clear();
    group.used = kPageRows;
    free_groups_.push_back(closed.group);
  }
  closed.rows.clear();
  closed.group = -1;
  free_slots_.push_back(slot);
}

void CacheRows::close_all() {
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) close(static_cast<int>(slot));
}

int CacheIndex::open() {
  int slot = -1;
  for (CacheRows& rows : by_window_) slot = rows.open();
  return slot;
}

int CacheIndex::fork(int slot) {
  int copy = -1;
  for (CacheRows& rows : by_window_) copy = rows.fork(slot);
  return copy;
}

const CacheRows& CacheIndex::of(int window) const {
  return *std::ranges::find(by_window_, window, &CacheRows::window);
}

void CacheIndex::add_window(int window) {
  if (std::ranges::find(by_window_, window, &CacheRows::window) == by_window_.end()) by_window_.emplace_back(window);
}

DataType key_value_type(Precision precision) {
  return precision == Precision::float32 ? DataType::float32 : DataType::bfloat16;
}

bool attends_in_bfloat16(Precision precision) {
  return precision != Precision::float32 && backend::instruction_sets().avx512_bfloat16;
}

void store_as(DataType type, const float* from, Dim count, std::byte* to) {
  const auto form = type == DataType::float32 ? kernels::InputForm::float32 : kernels::InputForm::bfloat16;
  kernels::convert_row(form, from, static_cast<int>(count), to);
}

void KeyValueCache::reserve(std::int64_t count, const KeyValueLayout& form) {
  if (count <= rows_) return;
  form_ = form;
  constexpr std::int64_t kPage = CacheRows::kPageRows;
  const std::int64_t grown = (std::max(count, 2 * rows_) + kPage - 1) / kPage * kPage;
  const Shape shape{static_cast<Dim>(grown) * static_cast<Dim>(form.bytes() / 2)};
  Tensor grown_keys = Tensor::uninitialized(shape, DataType::uint8);
  Tensor grown_values = Tensor::uninitialized(shape, DataType::uint8);  // keys_ is unchanged if this throws
  if (rows_ > 0) {
    std::memcpy(grown_keys.raw(), keys_.raw(), keys_.bytes());
    std::memcpy(grown_values.raw(), values_.raw(), values_.bytes());
  }
  keys_ = std::move(grown_keys);
  values_ = std::move(grown_values);
  rows_ = grown;
}

void KeyValueCache::write(std::int64_t row, const float* keys, const float* values) {
  const Dim width = form_.head_dim;
  const kernels::AttentionRows layout = this->keys(nullptr);
  for (int head = 0; head < form_.heads; ++head) {
    const auto offset = static_cast<std::size_t>(head * layout.head_stride + layout.before(row)) * size_of(form_.type);
    store_as(form_.type, keys + head * width, width, keys_.raw() + offset);
    store_as(form_.type, values + head * width, width, values_.raw() + offset);
  }
}

kernels::AttentionRows KeyValueCache::rows_of(const Tensor& tensor, const std::int32_t* index) const {
  constexpr std::ptrdiff_t kPage = CacheRows::kPageRows;
  return {.data = tensor.raw(),
          .stride = form_.head_dim,
          .index = index,
          .page_gap = kPage * form_.head_dim * (form_.heads - 1),
          .head_stride = kPage * form_.head_dim,
          .form = kernels::row_form(form_.type)};
}

}  // namespace encdec
