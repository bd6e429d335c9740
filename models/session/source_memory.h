#pragma once

#include <span>
#include <vector>

#include "encdec/engine/base/tensor.h"

namespace encdec {

// The keys and values of the cross-attentions for sources that are being decoded: one tensor a layer, in which each
// source has rows of its own, the same in all layers. Rows are handed out where there is a gap and go back when a
// source ends; the tensors grow by doubling.
class SourceMemory {
 public:
  // Where a source's keys and values are.
  struct Rows {
    int first = 0;  // row of each layer's tensor
    int count = 0;  // the source's length
  };

  // Copies a source's rows [first_row, first_row + count) of each layer's CrossAttentionMemory. Returns its number.
  int add(std::span<const Tensor> memories, int first_row, int count);
  void remove(int source);  // its rows are free
  void remove_all();        // all rows are free

  Rows rows(int source) const { return places_[static_cast<std::size_t>(source)]; }  // of an open source
  // One a layer, [capacity, width].
  std::span<const Tensor> tensors() const { return tensors_; }

 private:
  int find_gap(int count) const;
  void reserve(std::span<const Tensor> memories, int rows);

  std::vector<Tensor> tensors_;
  std::vector<Rows> places_;  // by source; without rows where it is free
  std::vector<int> used_;     // sources, by their first rows
};

}  // namespace encdec
