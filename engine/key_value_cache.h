#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encdec/engine/base/precision.h"
#include "encdec/engine/base/tensor.h"
#include "encdec/engine/kernels/attention.h"

namespace encdec {

// Which rows of the key/value caches hold the positions of each sequence. All layers share one index, since they all
// append the same positions. Sequences that were forked from one another are a family: they share the rows of the
// positions that they have in common, so beams are put in another order without touching keys or values. Rows are
// handed out to families in pages, so that a sequence's positions lie close together, and go back when the last of a
// family ends; after the first runs nothing is allocated.
class CacheIndex {
 public:
  static constexpr int kPageRows = kernels::AttentionRows::kPageRows;  // positions in a page

  // A new sequence without positions; returns its slot.
  int open();
  // A new sequence with the positions of another one, in its family; returns its slot.
  int fork(int slot);
  // Room for `count` more positions of a sequence.
  void append(int slot, int count);
  // Sequence slots[i] gets the positions that parents[i] has now. All are of one family.
  void reorder(std::span<const int> slots, std::span<const int> parents);
  // Ends a sequence; its slot, and its rows when its family has no other, are free for others.
  void close(int slot);
  void close_all();  // ends every sequence

  // The cache row of each position of a sequence.
  std::span<const std::int32_t> rows(int slot) const { return slots_[static_cast<std::size_t>(slot)].rows; }
  int length(int slot) const { return static_cast<int>(rows(slot).size()); }  // positions so far
  // Every row handed out so far is below this: how many rows a cache must have.
  std::int64_t row_limit() const { return static_cast<std::int64_t>(page_count_) * kPageRows; }

 private:
  struct Slot {
    std::vector<std::int32_t> rows;
    int family = -1;  // none while it is closed
  };
  struct Family {
    std::vector<std::int32_t> pages;
    int used = kPageRows;  // rows of the last page
    int members = 0;
  };
  std::int32_t next_row(Family& family);

  std::vector<Slot> slots_;
  std::vector<Family> families_;
  std::vector<int> free_slots_;
  std::vector<int> free_families_;
  std::vector<std::int32_t> free_pages_;
  std::vector<std::vector<std::int32_t>> reordered_;
  std::int32_t page_count_ = 0;
};

// The keys and values of a position.
struct KeyValueForm {
  int heads = 0;                      // none: nothing is kept
  Dim head_dim = 0;                   // K
  DataType type = DataType::float32;  // or bfloat16

  Dim width() const { return heads * head_dim; }  // H * K
  // Bytes of a position's keys and values.
  std::size_t bytes() const;
};

// In what a layer of this precision keeps keys and values: half the memory where matmuls round their inputs anyway.
DataType key_value_type(Precision precision);

// Whether encoders of this precision multiply queries, keys and weights of attention in bfloat16: where matmuls round
// their inputs anyway and the CPU has AVX-512's instructions for it.
bool attends_in_bfloat16(Precision precision);

// The keys and values that one layer has computed, in pages, each with all rows of the first head, then those of the
// next one: a head's attention reads whole stretches of memory.
class KeyValueCache {
 public:
  // Makes room for rows [0, count), keeping what is there; grows by doubling.
  void reserve(std::int64_t count, const KeyValueForm& form);
  // For rows [0, rows()).
  void write(std::int64_t row, const float* keys, const float* values);
  std::int64_t rows() const { return rows_; }  // positions that there is room for

  // The keys and values of positions that lie at the rows that the index names.
  kernels::AttentionRows keys(const std::int32_t* index) const { return rows_of(keys_, index); }
  kernels::AttentionRows values(const std::int32_t* index) const { return rows_of(values_, index); }  // likewise

 private:
  kernels::AttentionRows rows_of(const Tensor& tensor, const std::int32_t* index) const;

  KeyValueForm form_;
  std::int64_t rows_ = 0;
  Tensor keys_;
  Tensor values_;
};

// Writes `count` floats as float32 or, rounded to nearest, as bfloat16.
void store_as(DataType type, const float* from, Dim count, std::byte* to);

}  // namespace encdec
