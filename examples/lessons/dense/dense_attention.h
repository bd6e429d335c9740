#pragma once

#include <span>
#include <utility>

#include "dense/compared_rows.h"
#include "dense/masked_softmax.h"
#include "dense/valid_lengths.h"
#include "dense/weighted_sum.h"

namespace lessons {
using namespace encdec;

// Returns the shape of DenseAttention's output. Throws ShapeError if the inputs do not fit.
Shape dense_attention_shape(const Layer& scores, Shapes inputs);

// Attention over a dense batch, with the scores of a scoring layer. `Scores` has compare() and score() in addition to
// the functions of Layer.
//   output_i = sum_j softmax_j(score_ij) * value_j, masked by the valid lengths
//   {queries: [B, Q, Dq], keys: [B, K, Dk], values: [B, K, V]} -> [B, Q, V], or all without B
//   optional fourth input: valid lengths, int32 [B] or [B, Q]; without B [Q]
// The output is bitwise identical to the output of a scoring layer, MaskedSoftmax and WeightedSum in three nodes, but
// only the scores of one query for each thread are in memory at a time. An attention observer gets the weights of query
// q of batch member b as row b * Q + q of head 0.
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
  const ValidLengths lengths = inputs.size() == 4 ? ValidLengths(inputs[3], output.shape()) : ValidLengths();
  const auto key_count = static_cast<std::size_t>(inputs[1].shape()[-2]);
  const AttentionObserver& observer = state.attention_observer();
  const auto attend = [&](int query, int thread) {
    const std::span weights(state.thread_scratch(thread, key_count), key_count);
    scores_.score(compared, query, weights.data());
    masked_softmax(weights, lengths.of(query, static_cast<int>(key_count)));
    if (observer) observer({.row = query, .weights = weights});
    WeightedSum().sum(query, weights.data(), inputs[2], output);
  };
  if (!observer) return for_each_row(output, state.team(), attend);
  for (int query = 0; query < output.rows(); ++query) attend(query, 0);  // an observer is called by one thread
}

}  // namespace lessons
