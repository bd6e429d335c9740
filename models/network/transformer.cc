#include "encdec/models/network/transformer.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "encdec/layers/transformer/cross_attention.h"
#include "encdec/models/network/blocks.h"
#include "encdec/models/network/output_projection.h"

namespace encdec {
namespace {

// Builds Transformer::front.
Graph build_front(const TransformerConfig& config, const WeightScope& weights) {
  Graph graph("front");
  const OutputProjection none;
  Stack encoder(graph, config.encoder, weights / "encoder", Stack::Reading::all, none);
  config.encoder.front(encoder);
  return graph;
}

// Adds the encoder or, if the model has Transformer::front, the part of the encoder after the front. Returns the rows
// that decoders read.
Edge add_encoder(Graph& graph, const TransformerConfig& config, const WeightScope& weights,
                 const OutputProjection& projection) {
  const StackConfig& encoder = config.encoder;
  const FrameOptions& frames = encoder.frames;
  const Edge input =
      config.source_kind() == SourceKind::tokens
          ? graph.input("source_ids", {kSourceRows}, DataType::int32)
          : graph.input("source_frames",
                        {kSourceRows, frames.reads_samples() ? encoder.model_dim : frames.per_row * frames.width});
  const auto reading = config.gathers_rows ? Stack::Reading::gathered : Stack::Reading::all;
  return Stack(graph, encoder, weights / "encoder", reading, projection).add(input);
}

// Builds Transformer::encoder. The graph also computes the keys and values of each decoder layer's cross-attention,
// because these are the same in all decoding steps.
Graph build_encoder(const TransformerConfig& config, const WeightScope& weights, const OutputProjection& projection) {
  Graph graph("encoder");
  const Edge x = add_encoder(graph, config, weights, projection);
  const auto add_memory = [&](int layer) {
    const WeightScope w = weights / "decoder" / layer / "cross_attention";
    return graph.add((w / "key_values").path(),
                     std::make_shared<CrossAttentionKeyValues>(w, config.decoder.attention_of(layer)), {x});
  };
  // The decoder of a classifier runs once per source, so it is part of the same graph.
  if (config.decodes_source()) {
    const Edge target = graph.input("target_ids", {kSourceRows}, DataType::int32);
    Stack(graph, config.decoder, weights / "decoder", Stack::Reading::earlier, projection).add(target, add_memory);
    return graph;
  }
  for (int layer = 0; layer < config.decoder.layers; ++layer) graph.output(add_memory(layer));
  return graph;
}

// Builds Transformer::decoder. `form` is the layout of the cross-attention keys and values.
Graph build_decoder(const TransformerConfig& config, const WeightScope& weights, const OutputProjection& projection,
                    const KeyValueLayout& form) {
  Graph graph("decoder");
  const WeightScope decoder = weights / "decoder";
  const Edge target = graph.input("target_ids", {kTargetRows}, DataType::int32);
  const auto add_memory = [&](int layer) {
    return graph.input((decoder / layer / "cross_attention" / "key_values").path(), {kSourceRows, 2 * form.width()},
                       form.type);
  };
  Stack stack(graph, config.decoder, decoder, Stack::Reading::cached, projection);
  config.has_encoder() ? stack.add(target, add_memory) : stack.add(target);
  return graph;
}

OutputProjection head_projection(const TransformerConfig& config, const WeightScope& weights) {
  const bool is_language_model = config.head.kind == HeadKind::vocabulary;
  return {weights / "output",
          {.input_width = config.model_dim(),
           .output_width = config.head.labels,
           .bias = is_language_model ? config.output_bias : Bias::required}};
}

// Builds Transformer::head: y = output(norm(activation(dense(h)))).
Graph build_head(const TransformerConfig& config, const WeightScope& weights, const OutputProjection& projection) {
  Graph graph("head");
  const Dim width = config.model_dim();
  const HeadConfig& head = config.head;
  const StackConfig& last = config.last_stack();
  Edge x = graph.input("last_hidden_states", {kTargetRows, width});
  if (head.activation) {
    x = graph.add<Linear>(weights / "dense", {x},
                          LinearOptions{.input_width = width,
                                        .output_width = width,
                                        .bias = last.attention.bias == Bias::required ? Bias::required : Bias::optional,
                                        .activation = *head.activation});
  }
  if (head.has_norm) {
    x = graph.add<AddNorm>(weights / "norm", {x}, last.norm_of(width));
  }
  projection.add_to(graph, x);
  return graph;
}

}  // namespace

Transformer::Transformer(const TransformerConfig& config_, const WeightScope& weights_,
                         const Transformer* encodes_for_it)
    : config(config_), weights(weights_) {
  // Logits over a vocabulary take as much time as layers, so they are computed in the reduced precision. Logits of
  // labels take little time, so they are computed in float32.
  const Precision precision = output_precision(weights.pack().precision);
  const auto scope = (weights / "head").in(config.head.kind == HeadKind::vocabulary ? precision : Precision::float32);
  const OutputProjection projection = config.has_decoder()     ? OutputProjection(config, weights.in(precision))
                                      : config.head.is_graph() ? head_projection(config, scope)
                                                               : OutputProjection();
  if (config.has_encoder() && encodes_for_it == nullptr) {
    // In a reduced precision, the embeddings of an encoder-only model are not tied to the output, because tied
    // embeddings would have the rounding of the packed weights.
    const bool ties = config.has_decoder() || weights.pack().precision == Precision::float32;
    if (config.encoder.frames.reads_samples()) front.emplace(build_front(config, weights));
    encoder.emplace(build_encoder(config, weights, ties ? projection : OutputProjection()));
  }
  if (config.has_decoder()) {
    decoder.emplace(
        build_decoder(config, weights, projection, (encodes_for_it ? *encodes_for_it : *this).key_value_form()));
    output.emplace(projection.graph(config));
    output_layer = projection.layer();
  }
  if (config.head.is_graph()) head.emplace(build_head(config, scope, projection));
}

KeyValueLayout Transformer::key_value_form() const {
  return key_value_layout_of(config.decoder.attention_of(0), weights.pack().precision);
}

std::vector<const Executor*> Transformer::graphs() const {
  std::vector<const Executor*> graphs;
  for (const auto* executor : {&front, &encoder, &decoder, &output, &head}) {
    if (*executor) graphs.push_back(&**executor);
  }
  return graphs;
}

}  // namespace encdec
