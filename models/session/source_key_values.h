#pragma once

#include <span>
#include <vector>

#include "encdec/engine/base/tensor.h"

namespace encdec {

// The cross-attention keys and values of all open sources: one tensor per decoder layer. A source has the same rows in
// all tensors. New sources fill the gaps that removed sources leave.
class SourceKeyValues {
 public:
  // The rows of a source in each layer's tensor.
  struct Rows {
    int first = 0;
    int count = 0;  // the source's length
  };

  // Adds a source and returns its number. `key_values` is the output of each layer's
  // CrossAttentionKeyValues, of which rows [first_row, first_row + count) are copied.
  int add(std::span<const Tensor> key_values, int first_row, int count);
  void remove(int source);  // frees the source's rows
  void remove_all();

  Rows rows(int source) const { return rows_[static_cast<std::size_t>(source)]; }  // REQUIRES: the source is open
  // Returns one tensor [capacity, width] per layer.
  std::span<const Tensor> tensors() const { return tensors_; }

 private:
  int find_gap(int count) const;
  void reserve(std::span<const Tensor> key_values, int rows);

  std::vector<Tensor> tensors_;
  std::vector<Rows> rows_;  // by source; count 0 marks an unused number
  std::vector<int> used_;   // open sources in the order of their rows
};

}  // namespace encdec
