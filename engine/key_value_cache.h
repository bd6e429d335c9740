#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encdec/engine/tensor.h"

namespace encdec {

// Which rows of the key/value caches hold the positions of each sequence. All layers share one index, since they all
// append the same positions. Rows are handed out in pages, so that a sequence's positions lie close together, and go
// back when a sequence ends; after the first runs nothing is allocated.
class CacheIndex {
 public:
  static constexpr int kPageRows = 16;

  // A new sequence without positions; returns its slot.
  int open();
  // Room for `count` more positions of a sequence.
  void append(int slot, int count);
  // Ends a sequence; its rows and its slot are free for others.
  void close(int slot);
  void close_all();

  // The cache row of each position of a sequence.
  std::span<const std::int32_t> rows(int slot) const { return slots_[static_cast<std::size_t>(slot)].rows; }
  int length(int slot) const { return static_cast<int>(rows(slot).size()); }
  // Every row handed out so far is below this: how many rows a cache must have.
  std::int64_t row_limit() const { return static_cast<std::int64_t>(page_count_) * kPageRows; }

 private:
  struct Slot {
    std::vector<std::int32_t> rows;
    bool open = false;
  };
  std::vector<Slot> slots_;
  std::vector<int> free_slots_;
  std::vector<std::int32_t> free_pages_;
  std::int32_t page_count_ = 0;
};

// The keys and values that one layer has computed: two arrays of rows, [rows, width] each, written in place.
struct KeyValueCache {
  Tensor keys;
  Tensor values;

  // Makes room for rows [0, count), keeping what is there; grows by doubling.
  void reserve(std::int64_t count, Dim width);
};

}  // namespace encdec
