#pragma once

#include <cstdint>

#include "dense/compared_rows.h"

namespace lessons {
using namespace encdec;

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
  // Writes the scores of one of all B*Q queries, for layers that contain DotProductScores.
  void score(const ComparedRows& compared, Dim query, float* scores) const;

 private:
  DotProductOptions options_;
};

}  // namespace lessons
