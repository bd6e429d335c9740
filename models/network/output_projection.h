#pragma once

#include <memory>
#include <string>

#include "encdec/engine/graph.h"
#include "encdec/layers/transformer/linear.h"
#include "encdec/models/network/config.h"

namespace encdec {

// The projection from hidden states to logits, of a decoder or a head. An embedding with the same
// weights (Press & Wolf 2017) shares this projection's table.
class OutputProjection {
 public:
  OutputProjection() = default;
  // Reads the weights, D -> V, from weights / "output_projection".
  OutputProjection(const TransformerConfig& config, const WeightScope& weights)
      : OutputProjection(weights / "output_projection", {.input_width = config.model_dim(),
                                                         .output_width = config.decoder.vocabulary,
                                                         .bias = config.output_bias,
                                                         .input_scale = config.logits_scale,
                                                         .output_cap = config.logits_cap}) {}
  OutputProjection(const WeightScope& weights, const LinearOptions& options)
      : name_(weights.path()),
        layer_(std::make_shared<const Linear>(weights, options)),
        stored_(std::make_shared<const WeightMatrix>(
            weights.matrix("weight", {options.output_width, options.input_width}))) {}

  // Returns a graph from hidden states [T, D] to logits [T, V]. This graph is separate from the decoder's graph,
  // because often only the last token's logits are needed.
  Graph graph(const TransformerConfig& config) const {
    Graph graph("output");
    add_to(graph, graph.input("hidden", {kTargetRows, config.model_dim()}));
    return graph;
  }
  // Adds the logits of `hidden` [T, D] to `graph` as an output.
  void add_to(Graph& graph, Edge hidden) const { graph.output(graph.add(name_, layer_, {hidden})); }

  // Returns the projection's layer; null in a model without logits.
  const std::shared_ptr<const Linear>& layer() const { return layer_; }
  // Returns the projection's layer if the embedding with this scope and shape is stored as the same weights, else null.
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
