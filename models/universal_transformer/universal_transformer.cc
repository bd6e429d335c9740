#include "encdec/models/universal_transformer/universal_transformer.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"
#include "encdec/layers/transformer/add_norm.h"
#include "encdec/layers/transformer/cross_attention.h"
#include "encdec/layers/transformer/embedding.h"
#include "encdec/layers/transformer/feed_forward.h"
#include "encdec/layers/transformer/masked_decoder_attention.h"
#include "encdec/layers/transformer/multi_head_attention.h"
#include "encdec/layers/transformer/positional_encoding.h"
#include "encdec/layers/transformer/timestep_encoding.h"

namespace encdec {
namespace {

using Config = UniversalTransformerConfig;

// More is a typing error, and each step of a decoder has memory of its own.
constexpr int kMaxSteps = 1024;
constexpr int kMaxOffset = 1 << 20;

void check(const UniversalStackConfig& stack, std::string_view name) {
  if (stack.steps < 1 || stack.steps > kMaxSteps) {
    throw ConfigError(fmt::format("{}: {} steps, expected 1 to {}", name, stack.steps, kMaxSteps));
  }
  const float threshold = stack.halting_threshold.value_or(0.5f);
  if (!(threshold > 0.0f && threshold < 1.0f)) {
    throw ConfigError(fmt::format("{}: halting threshold {}, expected more than 0 and less than 1", name, threshold));
  }
}

const Config& checked(const Config& config) {
  check(config.encoder, "encoder");
  check(config.decoder, "decoder");
  const auto is_offset = [](int first) { return first >= 0 && first <= kMaxOffset; };
  if (!is_offset(config.first_position) || !is_offset(config.first_step)) {
    throw ConfigError(fmt::format("first position {}, first step {}, expected 0 to {}", config.first_position,
                                  config.first_step, kMaxOffset));
  }
  return config;
}

Graph embedding(const Config& config, const UniversalStackConfig& stack, const WeightScope& w, Dim rows) {
  Graph graph(w.path());
  const Edge ids = graph.input("token_ids", {rows}, DataType::int32);
  graph.output(graph.add<Embedding>(
      w / "embedding", {ids},
      EmbeddingOptions{.vocabulary = stack.vocabulary, .model_dim = config.model_dim, .scale = stack.embedding_scale}));
  return graph;
}

// H_{t-1} + P_t
Edge add_coordinates(Graph& graph, const Config& config, const WeightScope& w, Edge state, Edge step) {
  const PositionOptions positions{
      .model_dim = config.model_dim, .layout = config.layout, .offset = config.first_position};
  const Edge placed = graph.add<PositionalEncoding>(w / "positional_encoding", {state}, positions);
  return graph.add((w / "timestep_encoding").path(),
                   std::make_shared<TimestepEncoding>(config.layout, config.model_dim), {placed, step});
}

// The state after the block, and the probability that x halts.
void add_outputs(Graph& graph, const Config& config, const UniversalStackConfig& stack, const WeightScope& w, Edge x,
                 Edge transformed) {
  graph.output(transformed);
  if (!stack.halting_threshold) return;
  graph.output(graph.add<Linear>(
      w / "halting", {x},
      LinearOptions{.input_width = config.model_dim, .output_width = 1, .activation = Activation::sigmoid}));
}

Edge add_norm(Graph& graph, const Config& config, const WeightScope& w, Edge x, Edge transformed) {
  return graph.add<AddNorm>(w, {x, transformed},
                            NormOptions{.width = config.model_dim, .epsilon = config.norm_epsilon});
}

Edge add_transition(Graph& graph, const Config& config, const WeightScope& w, Edge attended) {
  const Edge transformed = graph.add<FeedForward>(
      w / "transition", {attended},
      FeedForwardOptions{
          .model_dim = config.model_dim, .hidden_dim = config.hidden_dim, .activation = config.activation});
  return add_norm(graph, config, w / "transition_norm", attended, transformed);
}

Graph encoder_block(const Config& config, const WeightScope& w) {
  Graph graph("encoder_block");
  const Edge state = graph.input("state", {kSourceRows, config.model_dim});
  const Edge step = graph.input("step", {1}, DataType::int32);
  const Edge x = add_coordinates(graph, config, w, state, step);
  const Edge attended = graph.add<MultiHeadAttention>(w / "self_attention", {x}, config.attention());
  const Edge mixed = add_norm(graph, config, w / "self_attention_norm", x, attended);
  add_outputs(graph, config, config.encoder, w, x, add_transition(graph, config, w, mixed));
  return graph;
}

Graph source_memory(const Config& config, const WeightScope& w) {
  Graph graph("source_memory");
  const Edge encoded = graph.input("encoded", {kSourceRows, config.model_dim});
  graph.output(graph.add<CrossAttentionMemory>(w / "cross_attention", {encoded}, config.attention()));
  return graph;
}

Graph decoder_block(const Config& config, const WeightScope& w) {
  Graph graph("decoder_block");
  const Edge state = graph.input("state", {kTargetRows, config.model_dim});
  const Edge step = graph.input("step", {1}, DataType::int32);
  const Edge memory =
      graph.input("memory", {kSourceRows, 2 * config.attention().inner_dim()}, key_value_type(w.pack().precision));
  const Edge x = add_coordinates(graph, config, w, state, step);
  const Edge attended = graph.add<MaskedDecoderAttention>(w / "self_attention", {x}, config.attention());
  const Edge mixed = add_norm(graph, config, w / "self_attention_norm", x, attended);
  const Edge crossed = graph.add<CrossAttention>(w / "cross_attention", {mixed, memory}, config.attention());
  const Edge informed = add_norm(graph, config, w / "cross_attention_norm", mixed, crossed);
  add_outputs(graph, config, config.decoder, w, x, add_transition(graph, config, w, informed));
  return graph;
}

Graph output_projection(const Config& config, const WeightScope& weights) {
  Graph graph("output");
  const Edge hidden = graph.input("hidden", {kTargetRows, config.model_dim});
  graph.output(graph.add<Linear>(
      weights / "output_projection", {hidden},
      LinearOptions{
          .input_width = config.model_dim, .output_width = config.decoder.vocabulary, .bias = Bias::optional}));
  return graph;
}

}  // namespace

UniversalTransformer::UniversalTransformer(const UniversalTransformerConfig& config_, const WeightScope& weights)
    : config(checked(config_)),
      source_embedding(embedding(config, config.encoder, weights / "encoder", kSourceRows)),
      encoder_block(encdec::encoder_block(config, weights / "encoder")),
      source_memory(encdec::source_memory(config, weights / "decoder")),
      target_embedding(embedding(config, config.decoder, weights / "decoder", kTargetRows)),
      decoder_block(encdec::decoder_block(config, weights / "decoder")),
      output(output_projection(config, weights)) {}

}  // namespace encdec
