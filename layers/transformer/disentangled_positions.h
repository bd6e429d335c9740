#pragma once

#include <cstdint>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/engine/kernels/attention_rows.h"

namespace encdec {

// Options of DisentangledPositions. The checkpoint has a relative embedding for each of 2 * span places. Distance d,
// from -span to span - 1, has place span + d. With a max_distance, only distances up to mid = span / 2 have places of
// their own; a larger distance d has the place of
//   mid + ceil(log(d / mid) / log((max_distance - 1) / mid) * (mid - 1))
// Distances without a place have the nearest one.
struct DisentangledOptions {
  int span = 0;                 // 0: no such positions
  int max_distance = 0;         // 0: all distances have places of their own
  bool scores_keys = false;     // whether there are queries of distances, multiplied with keys ("p2c")
  bool scores_queries = false;  // whether there are keys of distances, multiplied with queries ("c2p")
  float norm_epsilon = -1.0f;   // epsilon of the layer norm of the embeddings; negative: there is no norm

  // Throws ShapeError unless max_distance is 0, or span >= 2 and max_distance > span / 2 + 1.
  void check() const;
  // Returns the place of the embedding for a key that is `distance` positions before the query.
  int place_of(int distance) const;
};

// The positions of DeBERTa (He et al. 2021, section 3.1): relative embeddings become keys and queries of distances,
// which are computed once, when the weights are loaded. With d = i - j, the score of query i and key j is
//   scale * (<query_i, key_j> + <query_i, distance_key_d> + <distance_query_d, key_j>)
class DisentangledPositions {
 public:
  DisentangledPositions() = default;  // no positions
  // Takes distance_embedding.weight [2 * span, D], distance_embedding_norm.{weight, bias} [D] if there is a norm, and
  // distance_{key,query}.{weight [H*K, D], bias [H*K]} as `options` say. Throws WeightError, naming the tensor, if one
  // is missing or does not fit, and ShapeError as DisentangledOptions::check() does.
  DisentangledPositions(const WeightScope& weights, const DisentangledOptions& options, Dim model_dim, int heads,
                        Dim head_dim);

  // Return the rows of distances as kernels::HeadAttention takes them; without rows if there are none.
  kernels::DistanceRows keys() const { return keys_.rows(); }
  kernels::DistanceRows queries() const { return queries_.rows(); }

 private:
  struct Table {
    Tensor stored;                      // the rows of all heads
    kernels::DistanceRows description;  // without the addresses
    std::vector<std::int32_t> places;   // the place of each distance from -reach to reach

    kernels::DistanceRows rows() const;
  };

  Table keys_;
  Table queries_;
};

}  // namespace encdec
