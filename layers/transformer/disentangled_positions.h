#pragma once

#include <cstdint>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/engine/kernels/attention_rows.h"

namespace encdec {

// The checkpoint has 2 * span relative embeddings; distance d has embedding span + d. With a
// max_distance, larger distances share embeddings: beyond mid = span / 2, d is first replaced by
//   mid + ceil(log(d / mid) / log((max_distance - 1) / mid) * (mid - 1))
// and -d by the negative of this value. Distances without an embedding use the nearest embedding.
struct DisentangledOptions {
  int span = 0;                 // 0: no disentangled positions
  int max_distance = 0;         // 0: distances are not grouped
  bool scores_keys = false;     // multiplies keys with queries of distances ("p2c")
  bool scores_queries = false;  // multiplies queries with keys of distances ("c2p")
  float norm_epsilon = -1.0f;   // epsilon of the embeddings' layer norm; negative: no norm

  // Throws ShapeError unless max_distance is 0, or span >= 2 and max_distance > span / 2 + 1.
  void check() const;
  // Returns the index of the embedding for a key that is `distance` positions before the query.
  int bucket_of(int distance) const;
};

// The positions of DeBERTa (He et al. 2021, section 3.1). Relative embeddings become keys and
// queries of distances once, when the weights are loaded. With d = i - j, query i and key j have
// the score
//   scale * (<query_i, key_j> + <query_i, distance_key_d> + <distance_query_d, key_j>)
class DisentangledPositions {
 public:
  DisentangledPositions() = default;  // no positions
  // Takes distance_embedding.weight [2 * span, D], distance_embedding_norm.{weight, bias} [D] if
  // there is a norm, and distance_{key,query}.{weight [H*K, D], bias [H*K]} as chosen by `options`.
  // Throws WeightError, naming the tensor, and ShapeError as DisentangledOptions::check() does.
  DisentangledPositions(const WeightScope& weights, const DisentangledOptions& options, Dim model_dim, int heads,
                        Dim head_dim);

  // Return the rows of distances for kernels::HeadAttention; may be empty.
  kernels::DistanceRows keys() const { return keys_.rows(); }
  kernels::DistanceRows queries() const { return queries_.rows(); }

 private:
  struct Table {
    Tensor stored;                      // rows of all heads
    kernels::DistanceRows description;  // without the addresses
    std::vector<std::int32_t> row_of;   // row of each distance from -reach to reach

    kernels::DistanceRows rows() const;
  };

  Table keys_;
  Table queries_;
};

}  // namespace encdec
