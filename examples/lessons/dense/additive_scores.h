#pragma once

#include "dense/compared_rows.h"
#include "encdec/layers/transformer/linear.h"

namespace lessons {
using namespace encdec;

// Options of AdditiveScores.
struct AdditiveOptions {
  Dim query_dim = 0;       // Dq
  Dim key_dim = 0;         // Dk
  Dim hidden_dim = 0;      // h, width of the hidden layer
  Bias bias = Bias::none;  // bias of each projection
};

// Match of each query with each key, computed by a network with one hidden layer (Bahdanau et al. 2014, sections 3.1
// and A.1.2).
//   score_ij = value(tanh(query(q_i) + key(k_j))); query, key and value are linear maps
//   {queries: [B, Q, Dq], keys: [B, K, Dk]} -> [B, Q, K], or all without B
// Each query and each key is projected once. The sums [B, Q, K, h] are never in memory.
class AdditiveScores final : public Layer {
 public:
  // Takes query.weight [h, Dq], key.weight [h, Dk] and value.weight [1, h], and the biases [h], [h] and [1] if
  // options.bias asks for them. Throws WeightError, naming the tensor, if one is missing or does not fit.
  AdditiveScores(const WeightScope& weights, const AdditiveOptions& options);

  std::string_view kind() const override { return "additive_scores"; }
  // Throws ShapeError if the inputs do not fit.
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

  // Projects queries and keys, for layers that contain AdditiveScores. The result lasts until the running node is done.
  ComparedRows compare(const Tensor& queries, const Tensor& keys, RunState& state) const;
  // Writes the scores of one of all B*Q queries, for layers that contain AdditiveScores.
  void score(const ComparedRows& compared, Dim query, float* scores) const;

 private:
  Linear query_;          // Dq -> h
  Linear key_;            // Dk -> h
  Tensor value_weights_;  // [h]
  float value_bias_;
};

}  // namespace lessons
