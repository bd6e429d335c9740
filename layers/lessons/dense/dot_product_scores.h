#pragma once

#include <cstdint>

#include "encdec/layers/lessons/dense/compared_rows.h"

namespace encdec {

enum class ScoreScale : std::uint8_t {
  plain,   // q kᵀ
  scaled,  // q kᵀ / sqrt(D) (Vaswani et al. 2017, section 3.2.1)
};

// How DotProductScores compares.
struct DotProductOptions {
  ScoreScale scale = ScoreScale::scaled;  // what scores are divided by
};

// How well each query matches each key, as their dot product: score_ij = <query_i, key_j>, divided by sqrt(D) if asked.
//   {queries: [B, Q, D], keys: [B, K, D]} -> [B, Q, K], or all without B.  Throws ShapeError for anything else.
class DotProductScores final : public Layer {
 public:
  explicit DotProductScores(const DotProductOptions& options) : options_(options) {}  // has no weights

  std::string_view kind() const override { return "dot_product_scores"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

  // For layers that hold one as a part: scores of a block of queries, a row of them every `stride` floats.
  ComparedRows compare(const Tensor& queries, const Tensor& keys, RunState&) const { return {queries, keys}; }
  void score(const ComparedRows& compared, const QueryBlock& block, float* scores, Dim stride) const;  // of a block

 private:
  DotProductOptions options_;
};

}  // namespace encdec
