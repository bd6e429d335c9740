#pragma once

#include <utility>

#include "encdec/engine/kernels/softmax.h"
#include "encdec/layers/lessons/dense/compared_rows.h"
#include "encdec/layers/lessons/dense/valid_lengths.h"
#include "encdec/layers/lessons/dense/weighted_sum.h"

namespace encdec {

// Returns the shape of DenseAttention's output. Throws ShapeError if the inputs do not fit.
Shape dense_attention_shape(const Layer& scores, Shapes inputs);

// Calls `observer` with the weights of a block's queries, as those of head 0.
void report_weights(const QueryWeights& weights, int key_count, const AttentionObserver& observer);

// Attention over a dense batch, with the scores of a scoring layer. `Scores` has compare() and score() in addition to
// the functions of Layer.
//   output_i = sum_j softmax_j(score_ij) * value_j, masked by the valid lengths
//   {queries: [B, Q, Dq], keys: [B, K, Dk], values: [B, K, V]} -> [B, Q, V], or all without B
//   optional fourth input: valid lengths, int32 [B] or [B, Q]; without B [Q]
// The output has the same bits as a scoring layer, MaskedSoftmax and WeightedSum in three nodes, but only the scores of
// a few queries are in memory at a time.
// An attention observer gets the weights of query q of batch member b as row b * Q + q of head 0.
template <class Scores>
class DenseAttention : public Layer {
 public:
  // Throws ShapeError if the inputs do not fit.
  Shape output_shape(Shapes inputs) const override { return dense_attention_shape(scores_, inputs); }
  // Throws InputError if the valid lengths are not int32.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 protected:
  // Takes the arguments of the constructor of Scores.
  template <class... Args>
  explicit DenseAttention(Args&&... args) : scores_(std::forward<Args>(args)...) {}

 private:
  Scores scores_;
};

template <class Scores>
void DenseAttention<Scores>::forward(Inputs inputs, Tensor& output, RunState& state) const {
  const ComparedRows compared = scores_.compare(inputs[0], inputs[1], state);
  const Tensor& values = inputs[2];
  const ValidLengths lengths = inputs.size() == 4 ? ValidLengths(inputs[3], output.shape()) : ValidLengths();
  const int key_count = compared.key_count();
  const std::size_t stride = kernels::softmax_row(key_count);
  const AttentionObserver& observer = state.attention_observer();
  const Dim work = key_count * (compared.keys.width() + values.width());
  for_each_query_block(output.shape(), work, state, [&](const QueryBlock& block, int thread) {
    float* weights = state.thread_scratch(thread, QueryBlock::kMaxQueries * stride);
    scores_.score(compared, block, weights, static_cast<Dim>(stride));
    for (int i = 0; i < block.count; ++i) {
      kernels::masked_softmax(weights + static_cast<std::size_t>(i) * stride, key_count,
                              lengths.of(block.row + i, key_count));
    }
    const QueryWeights rows{block, weights, static_cast<Dim>(stride)};
    if (observer) report_weights(rows, key_count, observer);
    WeightedSum().sum(rows, values, output);
  });
}

}  // namespace encdec
