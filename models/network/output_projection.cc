#include "encdec/models/network/output_projection.h"

namespace encdec {

OutputProjection::OutputProjection(const TransformerConfig& config, const WeightScope& weights) {
  const WeightScope scope = weights / "output_projection";
  const LinearOptions options{.input_width = config.model_dim,
                              .output_width = config.decoder.vocabulary,
                              .bias = config.output_bias,
                              .input_scale = config.logits_scale};
  name_ = scope.path();
  stored_ = std::make_shared<const WeightMatrix>(scope.matrix("weight", {options.output_width, options.input_width}));
  layer_ = std::make_shared<const Linear>(scope, options);
}

Graph OutputProjection::graph(const TransformerConfig& config) const {
  Graph graph("output");
  const Edge hidden = graph.input("hidden", {kTargetRows, config.model_dim});
  graph.output(graph.add(name_, layer_, {hidden}));
  return graph;
}

std::shared_ptr<const Linear> OutputProjection::tied_to(const WeightScope& embedding, const Shape& table) const {
  const bool tied = stored_ != nullptr && embedding.matrix("weight", table).is_same_as(*stored_);
  return tied ? layer_ : nullptr;
}

}  // namespace encdec
