#pragma once

#include <span>
#include <vector>

#include "encdec/engine/base/tensor.h"

namespace encdec {

// The cross-attention keys and values of all open sources: one tensor for each layer. A source has the same rows in
// every tensor. Removed sources leave gaps, which later sources fill; the tensors grow by doubling.
class SourceMemory {
 public:
  // Rows that hold a source's keys and values.
  struct Rows {
    int first = 0;  // first row in each layer's tensor
    int count = 0;  // number of rows: the source's length
  };

  // Copies rows [first_row, first_row + count) of each layer's CrossAttentionMemory, and returns the number of the new
  // source.
  int add(std::span<const Tensor> memories, int first_row, int count);
  void remove(int source);  // frees the rows of a source
  void remove_all();        // frees all rows

  Rows rows(int source) const { return places_[static_cast<std::size_t>(source)]; }  // rows of an open source
  // Returns one tensor for each layer, [capacity, width].
  std::span<const Tensor> tensors() const { return tensors_; }

 private:
  int find_gap(int count) const;
  void reserve(std::span<const Tensor> memories, int rows);

  std::vector<Tensor> tensors_;
  std::vector<Rows> places_;  // by source; count 0 marks an unused number
  std::vector<int> used_;     // open sources in the order of their rows
};

}  // namespace encdec
