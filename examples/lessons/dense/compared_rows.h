#pragma once

#include "encdec/engine/layer.h"
#include "encdec/layers/lessons/dense/attention_kernel.h"
#include "encdec/layers/lessons/dense/query_blocks.h"

namespace encdec {

// Queries and keys as a scoring layer compares them: as they are, or projected to a common width W.
struct ComparedRows {
  Tensor queries;  // [B, Q, W]
  Tensor keys;     // [B, K, W]

  int key_count() const { return static_cast<int>(keys.shape()[-2]); }  // K
  // Returns a block's queries and all keys of its batch member, with the scores of query i at scores + i * stride.
  kernels::ScoredRows rows(const QueryBlock& block, float* scores, Dim stride) const;
};

// Returns the shape of the scores, [B, Q, K], for inputs {queries: [B, Q, Dq], keys: [B, K, Dk]}, or all without B.
// Throws ShapeError if the inputs do not fit; does not check the widths Dq and Dk.
Shape scores_shape(Shapes inputs);

// Writes the scores of all queries. `scores` is a scoring layer, with compare() and score().
template <class Scores>
void write_scores(const Scores& scores, Inputs inputs, Tensor& output, RunState& state) {
  const ComparedRows compared = scores.compare(inputs[0], inputs[1], state);
  const Dim key_count = output.shape().last();
  for_each_query_block(output.shape(), key_count * compared.keys.width(), state, [&](const QueryBlock& block, int) {
    scores.score(compared, block, output.row(block.row), key_count);
  });
}

}  // namespace encdec
