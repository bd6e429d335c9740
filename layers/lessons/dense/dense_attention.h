#pragma once

#include <utility>

#include "encdec/engine/kernels/softmax.h"
#include "encdec/layers/lessons/dense/compared_rows.h"
#include "encdec/layers/lessons/dense/valid_lengths.h"
#include "encdec/layers/lessons/dense/weighted_sum.h"

namespace encdec {

// What attention over a dense batch does, however it scores: a scoring layer, MaskedSoftmax and WeightedSum in one
// node, with the same bits as the three, but the scores of a few queries at a time are in scratch only.
//   {queries: [B, Q, Dq], keys: [B, K, Dk], values: [B, K, V]}, perhaps with valid lengths: int32 [B] or [B, Q]
//   -> [B, Q, V];  or all without B, then lengths [Q]
// An observer of attention is told the weights of row b * Q + q, as those of head 0.

// The output's shape. Throws ShapeError if the inputs do not fit.
Shape dense_attention_shape(const Layer& scores, Shapes inputs);

// The weights of one block, for an observer.
void tell_weights(const QueryWeights& weights, int key_count, const AttentionObserver& observer);

// The layer of a scoring layer, which has compare() and score() beside what a Layer has.
template <class Scores>
class DenseAttention : public Layer {
 public:
  // Throws ShapeError.
  Shape output_shape(Shapes inputs) const override { return dense_attention_shape(scores_, inputs); }
  // Throws InputError if the lengths are not int32.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 protected:
  // Takes what Scores takes.
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
    float* weights = state.thread_scratch(thread, QueryBlock::kMostQueries * stride);
    scores_.score(compared, block, weights, static_cast<Dim>(stride));
    for (int i = 0; i < block.count; ++i) {
      kernels::masked_softmax(weights + static_cast<std::size_t>(i) * stride, key_count,
                              lengths.of(block.row + i, key_count));
    }
    const QueryWeights rows{block, weights, static_cast<Dim>(stride)};
    if (observer) tell_weights(rows, key_count, observer);
    WeightedSum().sum(rows, values, output);
  });
}

}  // namespace encdec
