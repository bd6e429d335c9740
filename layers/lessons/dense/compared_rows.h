#pragma once

#include "encdec/engine/layer.h"
#include "encdec/layers/lessons/dense/attention_kernel.h"
#include "encdec/layers/lessons/dense/query_blocks.h"

namespace encdec {

// Queries [B, Q, W] and keys [B, K, W] as a scoring function compares them, perhaps after a projection.
struct ComparedRows {
  Tensor queries;  // [B, Q, W]
  Tensor keys;     // [B, K, W]

  int key_count() const { return static_cast<int>(keys.shape()[-2]); }  // K
  // A block's, with the scores of each query `stride` floats after those of the one before it.
  kernels::ScoredRows rows(const QueryBlock& block, float* scores, Dim stride) const;
};

// The shape of the scores of {queries: [B, Q, Dq], keys: [B, K, Dk]}: [B, Q, K], or all without B.
// Throws ShapeError if they do not fit, their widths left aside.
Shape scores_shape(Shapes inputs);

// What scoring layers do: all scores of all queries. `scores` has compare() and score().
template <class Scores>
void write_scores(const Scores& scores, Inputs inputs, Tensor& output, RunState& state) {
  const ComparedRows compared = scores.compare(inputs[0], inputs[1], state);
  const Dim key_count = output.shape().last();
  for_each_query_block(output.shape(), key_count * compared.keys.width(), state, [&](const QueryBlock& block, int) {
    scores.score(compared, block, output.row(block.row), key_count);
  });
}

}  // namespace encdec
