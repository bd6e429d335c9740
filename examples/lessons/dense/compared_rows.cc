#include "encdec/layers/lessons/dense/compared_rows.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"

namespace encdec {

kernels::ScoredRows ComparedRows::rows(const QueryBlock& block, float* scores, Dim stride) const {
  return {.queries = queries.row(block.row),
          .keys = keys.row(block.member * key_count()),
          .query_count = block.count,
          .key_count = key_count(),
          .width = static_cast<int>(keys.width()),
          .scores = scores,
          .scores_stride = stride};
}

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

}  // namespace encdec
