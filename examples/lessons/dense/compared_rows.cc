#include "dense/compared_rows.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"

namespace lessons {

Shape scores_shape(Shapes inputs) {
  if (inputs.size() != 2) throw ShapeError(fmt::format("{} inputs, expected queries and keys", inputs.size()));
  const Shape &queries = inputs[0], &keys = inputs[1];
  const int rank = queries.rank();
  if ((rank != 2 && rank != 3) || keys.rank() != rank || batch_of(queries) != batch_of(keys)) {
    throw ShapeError(fmt::format(
        "queries have shape {} and keys {}, expected [batch, rows, width] of one batch, or both [rows, width]",
        to_string(queries), to_string(keys)));
  }
  return rank == 3 ? Shape{queries[0], queries[1], keys[1]} : Shape{queries[0], keys[0]};
}

}  // namespace lessons
