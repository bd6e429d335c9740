#include "encdec/models/network/decoder.h"

#include <optional>
#include <utility>

#include "encdec/layers/transformer/cross_attention.h"
#include "encdec/layers/transformer/feed_forward.h"
#include "encdec/layers/transformer/masked_decoder_attention.h"
#include "encdec/models/network/encoder.h"
#include "encdec/models/network/residual_block.h"

namespace encdec {
namespace {

Edge add_decoder_block(Graph& graph, const TransformerConfig& config, const WeightScope& weights, int layer, Edge x,
                       std::optional<Edge> memory) {
  const WeightScope w = weights / layer;
  x = add_residual_block(graph, config, w / "self_attention_norm", x, [&](std::vector<Edge> inputs) {
    return graph.add<MaskedDecoderAttention>(w / "self_attention", std::move(inputs),
                                             self_attention_options(config, config.decoder, layer));
  });
  if (memory) {
    x = add_residual_block(graph, config, w / "cross_attention_norm", x, [&](std::vector<Edge> inputs) {
      inputs.insert(inputs.begin() + 1, *memory);
      return graph.add<CrossAttention>(w / "cross_attention", std::move(inputs),
                                       attention_options(config, config.decoder, layer));
    });
  }
  return add_residual_block(graph, config, w / "feed_forward_norm", x, [&](std::vector<Edge> inputs) {
    return graph.add<FeedForward>(w / "feed_forward", std::move(inputs), feed_forward_options(config, config.decoder));
  });
}

}  // namespace

Graph build_decoder(const TransformerConfig& config, const WeightScope& weights, const OutputProjection& projection) {
  Graph graph("decoder");
  const WeightScope decoder = weights / "decoder";
  const Edge target = graph.input("target_ids", {kTargetRows}, DataType::int32);
  std::vector<std::optional<Edge>> memories(static_cast<std::size_t>(config.decoder.layers));
  if (config.has_encoder()) {
    const Dim width = 2 * attention_options(config, config.decoder, 0).inner_dim();
    for (int layer = 0; layer < config.decoder.layers; ++layer) {
      memories[static_cast<std::size_t>(layer)] =
          graph.input((decoder / layer / "cross_attention" / "memory").path(), {kSourceRows, width},
                      key_value_type(weights.pack().precision));
    }
  }
  Edge x =
      add_embedded_tokens(graph, config, config.decoder, decoder, target,
                          projection.tied_to(decoder / "embedding", {config.decoder.vocabulary, config.model_dim}));
  for (int layer = 0; layer < config.decoder.layers; ++layer) {
    x = add_decoder_block(graph, config, decoder, layer, x, memories[static_cast<std::size_t>(layer)]);
  }
  if (config.norm_order == NormOrder::first) {
    x = graph.add<AddNorm>(decoder / "norm", {x}, norm_options(config));
  }
  graph.output(x);
  return graph;
}

}  // namespace encdec
