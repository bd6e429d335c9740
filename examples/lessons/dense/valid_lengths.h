#pragma once

#include "encdec/engine/base/tensor.h"

namespace lessons {
using namespace encdec;

// Number of keys that are not padding, for each row of scores. The lengths are int32: [B] or [B, Q] for scores [B, Q,
// K], [R] for scores [R, K].
class ValidLengths {
 public:
  // Makes every key valid.
  ValidLengths() = default;
  // Reads `lengths` for a tensor of shape `rows`, whose width does not matter. Throws InputError unless the lengths are
  // int32.
  ValidLengths(const Tensor& lengths, const Shape& rows);

  // Returns the length of a row of `key_count` scores, limited to [0, key_count].
  int of(Dim row, int key_count) const;

 private:
  const std::int32_t* lengths_ = nullptr;
  Dim rows_for_each_ = 1;
};

// Throws ShapeError unless valid lengths of shape `lengths` fit scores of shape `scores`.
void expect_valid_lengths(const Shape& lengths, const Shape& scores);

}  // namespace lessons
