#pragma once

#include <memory>

#include "encdec/engine/graph.h"
#include "encdec/layers/transformer/linear.h"
#include "encdec/models/network/config.h"

namespace encdec {

// What makes logits of a decoder's hidden states. Embeddings may have the same weights (Press & Wolf 2017): they read
// them here.
class OutputProjection {
 public:
  // None: of a model without a decoder.
  OutputProjection() = default;
  // Weights are asked for as output_projection.
  OutputProjection(const TransformerConfig& config, const WeightScope& weights);

  // Hidden states [T, D] -> logits [T, V] of the tokens that may come next: a graph of its own, since often only the
  // last token's are wanted.
  Graph graph(const TransformerConfig& config) const;

  // The projection, if the table of this scope is where its weights are stored; else null.
  std::shared_ptr<const Linear> tied_to(const WeightScope& embedding, const Shape& table) const;

 private:
  std::string name_;
  std::shared_ptr<const Linear> layer_;
  std::shared_ptr<const WeightMatrix> stored_;
};

}  // namespace encdec
