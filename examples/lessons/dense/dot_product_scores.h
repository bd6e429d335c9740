#pragma once

#include <cstdint>

#include "encdec/layers/lessons/dense/compared_rows.h"

namespace encdec {

// Formula of the scores of queries q and keys k of width D.
enum class ScoreScale : std::uint8_t {
  plain,   // q kᵀ
  scaled,  // q kᵀ / sqrt(D) (Vaswani et al. 2017, section 3.2.1)
};

// Options of DotProductScores.
struct DotProductOptions {
  ScoreScale scale = ScoreScale::scaled;  // formula of the scores
};

// Match of each query with each key: their dot product, divided by sqrt(D) if the scale is scaled.
//   score_ij = <query_i, key_j> (/ sqrt(D));  {queries: [B, Q, D], keys: [B, K, D]} -> [B, Q, K], or all without B
// Throws ShapeError for other inputs.
class DotProductScores final : public Layer {
 public:
  explicit DotProductScores(const DotProductOptions& options) : options_(options) {}  // takes no weights

  std::string_view kind() const override { return "dot_product_scores"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

  // Returns queries and keys unchanged, for layers that contain DotProductScores.
  ComparedRows compare(const Tensor& queries, const Tensor& keys, RunState&) const { return {queries, keys}; }
  // Writes the scores of a block's queries, for layers that contain DotProductScores: the row of query i begins at
  // scores + i * stride.
  void score(const ComparedRows& compared, const QueryBlock& block, float* scores, Dim stride) const;

 private:
  DotProductOptions options_;
};

}  // namespace encdec
