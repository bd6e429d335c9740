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

// For each sequence, the row of each position in the key/value caches of the layers with one window.
//
// A fork group is a set of sequences that were forked from one another. They share the cache rows of their common
// positions, so reordering beams moves no keys or values. Rows are allocated to fork groups in pages, so that the rows
// of a sequence lie close together. A group's pages are freed when its last sequence is closed. After the first runs
// nothing is allocated.
class CacheRows {
 public:
  static constexpr int kAll = std::numeric_limits<int>::max();         // a window that hides no position
  static constexpr int kPageRows = kernels::AttentionRows::kPageRows;  // positions in a page
  static constexpr int kMostDropped = 128;  // last positions that shorten() may drop if queries see a window

  // A query sees the last `window` positions, its own among them. Rows of earlier positions are used again.
  explicit CacheRows(int window) : window_(window) {}
  int window() const { return window_; }

  // Opens a new sequence without positions and returns its slot.
  int open();
  // Opens a copy of a sequence, with the same positions and in the same fork group, and returns its slot.
  int fork(int slot);
  // Appends `count` positions to a sequence.
  void append(int slot, int count);
  // Drops the last positions of a sequence, so that `length` of them are left. REQUIRES: no other sequence has them,
  // and with a window they are at most kMostDropped.
  void shorten(int slot, int length);
  // Replaces the positions of sequence slots[i] by those that sequence parents[i] has before this call.
  // REQUIRES: all sequences are of one fork group.
  void reorder(std::span<const int> slots, std::span<const int> parents);
  // Closes a sequence and frees its slot. Also frees the rows of its fork group if this was the group's last sequence.
  void close(int slot);
  void close_all();  // closes every sequence

  // Returns the cache row of each position of a sequence. Those before all windows have no meaning.
  std::span<const std::int32_t> rows(int slot) const { return slots_[static_cast<std::size_t>(slot)].rows; }
  int length(int slot) const { return static_cast<int>(rows(slot).size()); }  // number of positions
  // Number of rows that a cache must hold: all rows allocated so far are below this limit.
  std::int64_t row_limit() const { return static_cast<std::int64_t>(page_count_) * kPageRows; }

 private:
  struct Slot {
    std::vector<std::int32_t> rows;
    int group = -1;  // index of the fork group; -1 while the slot is closed
  };
  struct ForkGroup {
    std::vector<std::int32_t> pages;
    int used = kPageRows;                 // number of rows of the last page that were ever in use
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

// The index of all key/value caches. All layers append the same positions, so a sequence has the same slot and length
// in the rows of each window. See CacheRows for the functions.
class CacheIndex {
 public:
  // Adds rows for layers with a window. REQUIRES: no slot is open.
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

  // Returns the rows for a window. REQUIRES: add_window() added it, or it is kAll.
  const CacheRows& of(int window) const;
  std::span<const std::int32_t> rows(int slot) const { return by_window_.front().rows(slot); }  // without a window
  int length(int slot) const { return by_window_.front().length(slot); }

 private:
  template <class Function>
  void for_each(const Function& function) {
    for (CacheRows& rows : by_window_) function(rows);
  }

  std::vector<CacheRows> by_window_{CacheRows(CacheRows::kAll)};
};

// The layout of one position's keys and values.
struct KeyValueForm {
  int heads = 0;                      // H; 0 if the layer keeps no keys and values
  Dim head_dim = 0;                   // K
  DataType type = DataType::float32;  // or bfloat16
  int window = CacheRows::kAll;       // positions that a query sees

  Dim width() const { return heads * head_dim; }  // H * K
  // Returns the size of one position's keys and values in bytes.
  std::size_t bytes() const { return 2 * static_cast<std::size_t>(width()) * size_of(type); }
};

// Returns the type in which layers of this precision keep keys and values. It is bfloat16 (half the memory) for
// bfloat16 and int8, because their matmuls round their inputs anyway.
DataType key_value_type(Precision precision);

// Returns true if encoder self-attention and cross-attention multiply in bfloat16. They do if the matmuls of this
// precision round their inputs anyway and the CPU has AVX-512 BF16.
bool attends_in_bfloat16(Precision precision);

// The keys and values of one layer. A page holds all its rows of head 0, then all its rows of head 1, and so on, so
// that each head reads contiguous memory. See kernels::AttentionRows for a drawing.
class KeyValueCache {
 public:
  // Makes the capacity at least `count` rows and keeps the contents. Growing at least doubles the capacity. If this
  // throws, nothing has changed.
  void reserve(std::int64_t count, const KeyValueForm& form);
  // Writes the keys and values of one position, H * K floats each. REQUIRES: 0 <= row < rows().
  void write(std::int64_t row, const float* keys, const float* values);
  std::int64_t rows() const { return rows_; }  // capacity in positions

  // Returns the keys of one sequence. `index` is the sequence's CacheRows::rows().
  kernels::AttentionRows keys(const std::int32_t* index) const { return rows_of(keys_, index); }
  // The same for values.
  kernels::AttentionRows values(const std::int32_t* index) const { return rows_of(values_, index); }

 private:
  kernels::AttentionRows rows_of(const Tensor& tensor, const std::int32_t* index) const;

  KeyValueForm form_;
  std::int64_t rows_ = 0;
  Tensor keys_;
  Tensor values_;
};

// Writes `count` floats to `to`, as float32 or rounded to the nearest bfloat16.
void store_as(DataType type, const float* from, Dim count, std::byte* to);

}  // namespace encdec
