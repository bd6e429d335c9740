#pragma once

#include <vector>

#include "encdec/engine/graph.h"
#include "encdec/layers/transformer/add_norm.h"
#include "encdec/layers/transformer/attention_heads.h"
#include "encdec/layers/transformer/feed_forward.h"
#include "encdec/models/network/config.h"

namespace encdec {

// Whether the sub-layers of such blocks take the residual.
inline Residual sublayer_residual(const TransformerConfig& config) {
  return config.norm_order == NormOrder::first ? Residual::add : Residual::none;
}

// Options of the sub-layers of an encoder or decoder.
inline AttentionOptions attention_options(const TransformerConfig& config, const StackConfig& stack, int layer) {
  AttentionOptions options{.model_dim = config.model_dim,
                           .heads = stack.heads,
                           .head_dim = config.head_dim,
                           .bias = config.bias,
                           .residual = sublayer_residual(config),
                           .score_scale = config.score_scale};
  if (config.divide_scores_by_layer) options.score_scale = options.scale() / static_cast<float>(layer + 1);
  return options;
}

inline AttentionOptions self_attention_options(const TransformerConfig& config, const StackConfig& stack, int layer) {
  AttentionOptions options = attention_options(config, stack, layer);
  options.relative_positions = stack.relative_positions;
  return options;
}

inline FeedForwardOptions feed_forward_options(const TransformerConfig& config, const StackConfig& stack) {
  return {.kind = config.feed_forward,
          .model_dim = config.model_dim,
          .hidden_dim = stack.hidden_dim,
          .activation = config.activation,
          .bias = config.bias,
          .residual = sublayer_residual(config)};
}

inline NormOptions norm_options(const TransformerConfig& config) {
  return {.kind = config.norm, .width = config.model_dim, .epsilon = config.norm_epsilon};
}

// A sub-layer with its residual connection and normalisation. `add_sublayer(inputs)` adds the sub-layer's node:
//   norm last:  x -> norm(x + f(x));  inputs are {x}
//   norm first: x -> x + f(norm(x));  inputs are {norm(x), x}, the second being f's residual
template <class AddSublayer>
Edge add_residual_block(Graph& graph, const TransformerConfig& config, const WeightScope& norm, Edge x,
                        const AddSublayer& add_sublayer) {
  if (config.norm_order == NormOrder::last) {
    const Edge transformed = add_sublayer(std::vector{x});
    return graph.add<AddNorm>(norm, {x, transformed}, norm_options(config));
  }
  const Edge normalized = graph.add<AddNorm>(norm, {x}, norm_options(config));
  return add_sublayer(std::vector{normalized, x});
}

}  // namespace encdec
