#pragma once

#include <memory>
#include <string>

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
  OutputProjection(const TransformerConfig& config, const WeightScope& weights) {
    const WeightScope scope = weights / "output_projection";
    const LinearOptions options{.input_width = config.model_dim,
                                .output_width = config.decoder.vocabulary,
                                .bias = config.output_bias,
                                .input_scale = config.logits_scale};
    name_ = scope.path();
    stored_ = std::make_shared<const WeightMatrix>(scope.matrix("weight", {options.output_width, options.input_width}));
    layer_ = std::make_shared<const Linear>(scope, options);
  }

  // Hidden states [T, D] -> logits [T, V] of the tokens that may come next: a graph of its own, since often only the
  // last token's are wanted.
  Graph graph(const TransformerConfig& config) const {
    Graph graph("output");
    const Edge hidden = graph.input("hidden", {kTargetRows, config.model_dim});
    graph.output(graph.add(name_, layer_, {hidden}));
    return graph;
  }

  // The projection, if the table of this scope is where its weights are stored; else null.
  std::shared_ptr<const Linear> tied_to(const WeightScope& embedding, const Shape& table) const {
    const bool tied = stored_ != nullptr && embedding.matrix("weight", table).is_same_as(*stored_);
    return tied ? layer_ : nullptr;
  }

 private:
  std::string name_;
  std::shared_ptr<const Linear> layer_;
  std::shared_ptr<const WeightMatrix> stored_;
};

}  // namespace encdec
