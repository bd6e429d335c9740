#include "dense/valid_lengths.h"

#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/base/error.h"
#include "encdec/layers/transformer/expectations.h"

namespace lessons {

ValidLengths::ValidLengths(const Tensor& lengths, const Shape& rows) {
  expect_integers(lengths, "valid lengths");
  lengths_ = lengths.data<std::int32_t>();
  // With lengths [B] and rows [B, Q, K], each length applies to Q rows; otherwise to one row.
  if (lengths.shape().rank() + 1 < rows.rank()) rows_for_each_ = rows[-2];
}

int ValidLengths::of(Dim row, int key_count) const {
  return lengths_ == nullptr ? key_count : std::clamp(static_cast<int>(lengths_[row / rows_for_each_]), 0, key_count);
}

void expect_valid_lengths(const Shape& lengths, const Shape& scores) {
  const Shape for_each_row(scores.dims().first(static_cast<std::size_t>(scores.rank() - 1)));
  const Shape for_each_member{scores[0]};
  if (lengths == for_each_row || lengths == for_each_member) return;
  throw ShapeError(fmt::format("valid lengths have shape {}, expected {}{}", to_string(lengths),
                               to_string(for_each_member),
                               scores.rank() == 3 ? " or " + to_string(for_each_row) : std::string()));
}

}  // namespace lessons
