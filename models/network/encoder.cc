#include "encdec/models/network/encoder.h"

#include <utility>

#include "encdec/layers/transformer/cross_attention.h"
#include "encdec/layers/transformer/embedding.h"
#include "encdec/layers/transformer/feed_forward.h"
#include "encdec/layers/transformer/multi_head_attention.h"
#include "encdec/layers/transformer/positional_encoding.h"
#include "encdec/layers/transformer/token_type_embedding.h"
#include "encdec/models/network/residual_block.h"

namespace encdec {

Edge add_embedded_tokens(Graph& graph, const TransformerConfig& config, const StackConfig& stack,
                         const WeightScope& weights, Edge token_ids, std::shared_ptr<const Linear> tied) {
  const auto add_norm = [&](Edge x) {
    return graph.add<AddNorm>(weights / "embedding_norm", {x}, norm_options(config));
  };
  Edge x = graph.add<Embedding>(weights / "embedding", {token_ids},
                                EmbeddingOptions{.vocabulary = stack.vocabulary,
                                                 .model_dim = config.model_dim,
                                                 .zero_row = stack.zero_start_token,
                                                 .scale = stack.embedding_scale,
                                                 .tied = std::move(tied)});
  if (config.token_types > 0) {
    x = graph.add<TokenTypeEmbedding>(weights / "token_type_embedding", {x},
                                      TokenTypeOptions{.types = config.token_types, .model_dim = config.model_dim});
  }
  if (stack.embedding_norm == EmbeddingNorm::before_positions) x = add_norm(x);
  if (stack.positions.kind != PositionOptions::Kind::none) {
    PositionOptions positions = stack.positions;
    positions.model_dim = config.model_dim;
    std::vector<Edge> inputs{x};
    if (positions.pad_token) inputs.push_back(token_ids);
    x = graph.add<PositionalEncoding>(weights / "positional_encoding", std::move(inputs), positions);
  }
  if (stack.embedding_norm == EmbeddingNorm::after_positions) x = add_norm(x);
  return x;
}

namespace {

Edge add_encoder_block(Graph& graph, const TransformerConfig& config, const WeightScope& weights, int layer, Edge x) {
  const WeightScope w = weights / layer;
  x = add_residual_block(graph, config, w / "self_attention_norm", x, [&](std::vector<Edge> inputs) {
    return graph.add<MultiHeadAttention>(w / "self_attention", std::move(inputs),
                                         self_attention_options(config, config.encoder, layer));
  });
  return add_residual_block(graph, config, w / "feed_forward_norm", x, [&](std::vector<Edge> inputs) {
    return graph.add<FeedForward>(w / "feed_forward", std::move(inputs), feed_forward_options(config, config.encoder));
  });
}

}  // namespace

Graph build_encoder(const TransformerConfig& config, const WeightScope& weights, const OutputProjection& projection) {
  Graph graph("encoder");
  const WeightScope encoder = weights / "encoder";
  const Edge source = graph.input("source_ids", {kSourceRows}, DataType::int32);
  Edge x =
      add_embedded_tokens(graph, config, config.encoder, encoder, source,
                          projection.tied_to(encoder / "embedding", {config.encoder.vocabulary, config.model_dim}));
  for (int layer = 0; layer < config.encoder.layers; ++layer) {
    x = add_encoder_block(graph, config, encoder, layer, x);
  }
  if (config.norm_order == NormOrder::first) {
    x = graph.add<AddNorm>(encoder / "norm", {x}, norm_options(config));
  }
  graph.output(x);

  for (int layer = 0; layer < config.decoder.layers; ++layer) {
    const WeightScope w = weights / "decoder" / layer / "cross_attention";
    graph.output(graph.add((w / "memory").path(),
                           std::make_shared<CrossAttentionMemory>(w, attention_options(config, config.decoder, layer)),
                           {x}));
  }
  return graph;
}

}  // namespace encdec
