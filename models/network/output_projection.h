#pragma once

#include <memory>
#include <string>

#include "encdec/engine/graph.h"
#include "encdec/layers/transformer/linear.h"
#include "encdec/models/network/config.h"

namespace encdec {

// The projection from hidden states to logits, of a decoder or of a head. An embedding may have the same weights (Press
// & Wolf 2017); it then reads its table from this projection.
class OutputProjection {
 public:
  // Makes an empty projection, for a model without logits.
  OutputProjection() = default;
  // Takes the weights of a Linear, D -> V, from weights / "output_projection".
  OutputProjection(const TransformerConfig& config, const WeightScope& weights)
      : OutputProjection(weights / "output_projection", {.input_width = config.model_dim(),
                                                         .output_width = config.decoder.vocabulary,
                                                         .bias = config.output_bias,
                                                         .input_scale = config.logits_scale,
                                                         .output_cap = config.logits_cap}) {}
  // Takes the weights of a Linear from `weights`.
  OutputProjection(const WeightScope& weights, const LinearOptions& options)
      : name_(weights.path()),
        layer_(std::make_shared<const Linear>(weights, options)),
        stored_(std::make_shared<const WeightMatrix>(
            weights.matrix("weight", {options.output_width, options.input_width}))) {}

  // Returns a graph from hidden states [T, D] to the logits [T, V] of the next tokens. The graph is separate from the
  // decoder's, since often only the logits after the last token are needed.
  Graph graph(const TransformerConfig& config) const {
    Graph graph("output");
    add_to(graph, graph.input("hidden", {kTargetRows, config.model_dim()}));
    return graph;
  }
  // Adds the logits of `hidden` [T, D] to a graph, as an output.
  void add_to(Graph& graph, Edge hidden) const { graph.output(graph.add(name_, layer_, {hidden})); }

  // Returns the map from hidden states to logits; null in a model without logits.
  const std::shared_ptr<const Linear>& layer() const { return layer_; }
  // Returns the projection if the embedding in scope `embedding` has the same stored weights, else null. `shape` is the
  // expected shape of the embedding's weight.
  std::shared_ptr<const Linear> tied_to(const WeightScope& embedding, const Shape& shape) const {
    const bool tied = stored_ != nullptr && embedding.matrix("weight", shape).is_same_as(*stored_);
    return tied ? layer_ : nullptr;
  }

 private:
  std::string name_;
  std::shared_ptr<const Linear> layer_;
  std::shared_ptr<const WeightMatrix> stored_;
};

}  // namespace encdec
