#pragma once

#include "encdec/engine/base/tensor.h"

namespace encdec {

// How many keys of each row of scores are no padding: int32, [B] or [B, Q] for scores [B, Q, K], [R] for [R, K].
class ValidLengths {
 public:
  // Every key of every row.
  ValidLengths() = default;
  // The lengths of the rows of a tensor of such a shape, whatever their width. Throws InputError unless they are int32.
  ValidLengths(const Tensor& lengths, const Shape& rows);

  // The length of a row of `key_count` scores, in [0, key_count]: a longer length masks nothing, a negative one is 0.
  int of(Dim row, int key_count) const;

 private:
  const std::int32_t* lengths_ = nullptr;
  Dim rows_for_each_ = 1;
};

// Throws ShapeError unless such lengths fit such scores.
void expect_valid_lengths(const Shape& lengths, const Shape& scores);

}  // namespace encdec
