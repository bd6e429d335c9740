#pragma once

#include "encdec/engine/layer.h"
#include "encdec/engine/row_sharing.h"
#include "encdec/engine/run_state.h"

namespace lessons {
using namespace encdec;

// Returns B for a dense batch [B, R, D], and 1 for a single member [R, D].
inline Dim batch_of(const Shape& shape) {
  return shape.rank() == 3 ? shape[0] : 1;
}

// Returns the first of the rows [B, K, W] that belong to the batch member of query `query`, one of all B*Q queries.
inline const float* first_row_for(Dim query, const Shape& queries, const Tensor& rows) {
  return rows.row(query / queries[-2] * rows.shape()[-2]);
}

// Queries and keys as a scoring layer compares them: as they are, or projected to a common width W.
struct ComparedRows {
  Tensor queries;  // [B, Q, W]
  Tensor keys;     // [B, K, W]

  // Writes compare(q, k) to `scores`, where q is query `query` of all B*Q and k is each key of its batch member.
  template <class Compare>
  void score(Dim query, float* scores, const Compare& compare) const {
    const float* key = first_row_for(query, queries.shape(), keys);
    for (Dim j = 0; j < keys.shape()[-2]; ++j, key += keys.width()) scores[j] = compare(queries.row(query), key);
  }
};

// Returns the shape of the scores, [B, Q, K], for inputs {queries: [B, Q, Dq], keys: [B, K, Dk]}, or all without B.
// Throws ShapeError if the inputs do not fit; does not check the widths Dq and Dk.
Shape scores_shape(Shapes inputs);

// Writes the scores of all queries. `scores` is a scoring layer, with compare() and score().
template <class Scores>
void write_scores(const Scores& scores, Inputs inputs, Tensor& output, RunState& state) {
  const ComparedRows compared = scores.compare(inputs[0], inputs[1], state);
  for_each_row(output, state.team(), [&](int query) { scores.score(compared, query, output.row(query)); });
}

}  // namespace lessons
