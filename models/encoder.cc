#include "encdec/models/encoder.h"

#include "encdec/layers/cross_attention.h"
#include "encdec/layers/embedding.h"
#include "encdec/layers/feed_forward.h"
#include "encdec/layers/multi_head_attention.h"
#include "encdec/layers/positional_encoding.h"
#include "encdec/models/residual_block.h"

namespace encdec {

Edge add_embedded_tokens(Graph& graph, const TransformerConfig& config, Dim vocabulary, const WeightScope& weights,
                         Edge token_ids) {
  const Edge embedded = graph.add<Embedding>(
      weights / "embedding", {token_ids},
      EmbeddingOptions{.vocabulary = vocabulary, .model_dim = config.model_dim, .scale = config.embedding_scale});
  return graph.add<PositionalEncoding>(weights / "positional_encoding", {embedded}, config.positions, config.model_dim,
                                       config.max_positions);
}

namespace {

Edge add_encoder_block(Graph& graph, const TransformerConfig& config, const WeightScope& w, Edge x) {
  x = add_residual_block(graph, config, w / "self_attention_norm", x, [&](std::vector<Edge> inputs) {
    return graph.add<MultiHeadAttention>(w / "self_attention", std::move(inputs),
                                         attention_options(config, config.encoder));
  });
  return add_residual_block(graph, config, w / "feed_forward_norm", x, [&](std::vector<Edge> inputs) {
    return graph.add<FeedForward>(w / "feed_forward", std::move(inputs), feed_forward_options(config, config.encoder));
  });
}

}  // namespace

Graph build_encoder(const TransformerConfig& config, const WeightScope& weights) {
  Graph graph("encoder");
  const WeightScope encoder = weights / "encoder";
  const Edge source = graph.input("source_ids", {kSourceRows}, DataType::int32);
  Edge x = add_embedded_tokens(graph, config, config.encoder.vocabulary, encoder, source);
  for (int layer = 0; layer < config.encoder.layers; ++layer) {
    x = add_encoder_block(graph, config, encoder / layer, x);
  }
  if (config.norm_order == NormOrder::first) {
    x = graph.add<AddNorm>(encoder / "norm", {x}, norm_options(config));
  }
  graph.output(x);

  for (int layer = 0; layer < config.decoder.layers; ++layer) {
    const WeightScope w = weights / "decoder" / layer / "cross_attention";
    const AttentionOptions options{.model_dim = config.model_dim, .heads = config.decoder.heads};
    graph.output(graph.add((w / "memory").path(), std::make_shared<CrossAttentionMemory>(w, options), {x}));
  }
  return graph;
}

}  // namespace encdec
