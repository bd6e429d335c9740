#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "encdec/engine/base/precision.h"
#include "encdec/engine/base/tensor.h"
#include "encdec/engine/kernels/attention_rows.h"

namespace encdec {

// Maps each position of each sequence to a row in key/value caches. All layers with the same
// attention window share one CacheRows.
//
// A fork group is a set of sequences that were forked from one another. These sequences share the rows of their common
// positions, so reordering beams moves no keys or values. A fork group allocates rows in pages, which keeps a
// sequence's rows close together, and frees the pages when its last sequence is closed.
class CacheRows {
 public:
  static constexpr int kAll = std::numeric_limits<int>::max();  // a window of all positions
  static constexpr int kPageRows = kernels::AttentionRows::kPageRows;
  static constexpr int kMostDropped = 128;  // most positions that shorten() may drop if there is a window

  // A query sees the last `window` positions, including its own. Rows of earlier positions are reused.
  explicit CacheRows(int window) : window_(window) {}
  int window() const { return window_; }

  // open() starts an empty sequence, fork() a copy in the same fork group. Both return the slot.
  int open();
  int fork(int slot);
  void append(int slot, int count);
  // Truncates a sequence to `length` positions. If there is a window, drops at most kMostDropped positions. REQUIRES:
  // no other sequence shares the dropped positions.
  void shorten(int slot, int length);
  // Replaces the positions of each slots[i] by the previous positions of parents[i]. REQUIRES: all
  // sequences belong to one fork group.
  void reorder(std::span<const int> slots, std::span<const int> parents);
  // Closes a sequence. The last sequence of a fork group frees the group's rows.
  void close(int slot);
  void close_all();

  // Returns the row of each position. Rows before the window are meaningless.
  std::span<const std::int32_t> rows(int slot) const { return slots_[static_cast<std::size_t>(slot)].rows; }
  int length(int slot) const { return static_cast<int>(rows(slot).size()); }
  // Returns the number of rows that a cache needs.
  std::int64_t row_limit() const { return static_cast<std::int64_t>(page_count_) * kPageRows; }

 private:
  struct Slot {
    std::vector<std::int32_t> rows;
    int group = -1;  // index of the fork group; -1 while the slot is closed
  };
  struct ForkGroup {
    std::vector<std::int32_t> pages;
    int used = kPageRows;                 // rows of the last page that were ever in use
    std::vector<std::int32_t> free_rows;  // rows of dropped positions
    int members = 0;
    std::deque<std::pair<int, std::int32_t>> taken;  // with a window: positions and their rows, oldest first
  };
  std::int32_t next_row(ForkGroup& group);
  void free_unseen_rows(int group);

  bool has_window() const { return window_ != kAll; }

  int window_;
  std::vector<Slot> slots_;
  std::vector<ForkGroup> groups_;
  std::vector<int> free_slots_;
  std::vector<int> free_groups_;
  std::vector<std::int32_t> free_pages_;
  std::vector<std::vector<std::int32_t>> reordered_;
  std::int32_t page_count_ = 0;
};

// The CacheRows of all windows. A sequence has the same slot and length in each of them, because
// all layers append the same positions. See CacheRows for the functions.
class CacheIndex {
 public:
  // REQUIRES: no slot is open.
  void add_window(int window);

  int open();
  int fork(int slot);
  void append(int slot, int count) {
    for_each([=](CacheRows& rows) { rows.append(slot, count); });
  }
  void shorten(int slot, int length) {
    for_each([=](CacheRows& rows) { rows.shorten(slot, length); });
  }
  void reorder(std::span<const int> slots, std::span<const int> parents) {
    for_each([=](CacheRows& rows) { rows.reorder(slots, parents); });
  }
  void close(int slot) {
    for_each([=](CacheRows& rows) { rows.close(slot); });
  }
  void close_all() {
    for_each([](CacheRows& rows) { rows.close_all(); });
  }

  // REQUIRES: `window` is kAll or was passed to add_window().
  const CacheRows& of(int window) const;
  std::span<const std::int32_t> rows(int slot) const { return by_window_.front().rows(slot); }
  int length(int slot) const { return by_window_.front().length(slot); }

 private:
  template <class Function>
  void for_each(const Function& function) {
    for (CacheRows& rows : by_window_) function(rows);
  }

  std::vector<CacheRows> by_window_{CacheRows(CacheRows::kAll)};
};

struct KeyValueLayout {
  int heads = 0;                      // H; 0 if the layer caches nothing
  Dim head_dim = 0;                   // K
  DataType type = DataType::float32;  // or bfloat16
  int window = CacheRows::kAll;       // number of positions that a query sees

  Dim width() const { return heads * head_dim; }  // H * K
  // Returns the size in bytes of the keys and values of one position.
  std::size_t bytes() const { return 2 * static_cast<std::size_t>(width()) * size_of(type); }
};

// Returns the type of cached keys and values: float32 for float32, otherwise bfloat16, which halves the memory. The
// matmuls of the other precisions round their inputs anyway.
DataType key_value_type(Precision precision);

// Returns true if encoder self-attention and cross-attention multiply in bfloat16: in precisions
// whose matmuls round their inputs anyway, on CPUs with AVX-512 BF16.
bool attends_in_bfloat16(Precision precision);

// The keys and values of one layer. A page holds the rows of head 0, then the rows of head 1, and
// so on, so that each head reads contiguous memory; kernels::AttentionRows has a drawing.
class KeyValueCache {
 public:
  // Grows the capacity to at least `count` rows, and at least doubles it if it grows. If this throws, keys and values
  // are unchanged.
  void reserve(std::int64_t count, const KeyValueLayout& form);
  // Writes the keys and values of one position, H * K floats each. REQUIRES: 0 <= row < rows().
  void write(std::int64_t row, const float* keys, const float* values);
  std::int64_t rows() const { return rows_; }  // capacity in positions

  // Return the keys or values of one sequence. `index` is its CacheRows::rows().
  kernels::AttentionRows keys(const std::int32_t* index) const { return rows_of(keys_, index); }
  kernels::AttentionRows values(const std::int32_t* index) const { return rows_of(values_, index); }

 private:
  kernels::AttentionRows rows_of(const Tensor& tensor, const std::int32_t* index) const;

  KeyValueLayout form_;
  std::int64_t rows_ = 0;
  Tensor keys_;
  Tensor values_;
};

// Writes `count` floats as float32, or rounded to the nearest bfloat16.
void store_as(DataType type, const float* from, Dim count, std::byte* to);

}  // namespace encdec
