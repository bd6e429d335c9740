#pragma once

#include "encdec/layers/lessons/dense/compared_rows.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

// The sizes of AdditiveScores.
struct AdditiveOptions {
  Dim query_dim = 0;       // Dq
  Dim key_dim = 0;         // Dk
  Dim hidden_dim = 0;      // h
  Bias bias = Bias::none;  // of each projection
};

// How well each query matches each key, as a small network sees it (Bahdanau et al. 2014, section 3.1 and A.1.2):
//   score_ij = value tanh(query(q_i) + key(k_j)), each of the three a projection
//   {queries: [B, Q, Dq], keys: [B, K, Dk]} -> [B, Q, K], or all without B
// Queries and keys are projected once each; of the [B, Q, K, h] sums only a few vectors exist at a time.
class AdditiveScores final : public Layer {
 public:
  // Takes query.weight [h, Dq], key.weight [h, Dk] and value.weight [1, h], and biases [h], [h] and [1] as the options
  // say. Throws WeightError, naming the tensor, if one is missing or does not fit.
  AdditiveScores(const WeightScope& weights, const AdditiveOptions& options);

  std::string_view kind() const override { return "additive_scores"; }
  // Throws ShapeError.
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

  // For layers that hold one as a part: scores of a block of queries, a row of them every `stride` floats.
  ComparedRows compare(const Tensor& queries, const Tensor& keys, RunState& state) const;
  void score(const ComparedRows& compared, const QueryBlock& block, float* scores, Dim stride) const;  // of a block

 private:
  Linear query_;          // Dq -> h
  Linear key_;            // Dk -> h
  Tensor value_weights_;  // [h]
  float value_bias_;
};

}  // namespace encdec
