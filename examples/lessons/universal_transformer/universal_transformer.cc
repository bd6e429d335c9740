#include "universal_transformer/universal_transformer.h"

#include <fmt/format.h>

#include <optional>

#include "encdec/engine/base/error.h"
#include "encdec/layers/transformer/add_norm.h"
#include "encdec/layers/transformer/cross_attention.h"
#include "encdec/layers/transformer/embedding.h"
#include "encdec/layers/transformer/feed_forward.h"
#include "encdec/layers/transformer/masked_decoder_attention.h"
#include "encdec/layers/transformer/multi_head_attention.h"
#include "encdec/layers/transformer/positional_encoding.h"
#include "universal_transformer/timestep_encoding.h"

namespace lessons {
namespace {

using Config = UniversalTransformerConfig;

// Upper bounds; anything larger is assumed to be a typo. Each decoder step has its own cache.
constexpr int kMaxSteps = 1024;
constexpr int kMaxOffset = 1 << 20;

// Throws ConfigError if a value of the stack is out of range.
void check(const UniversalStackConfig& stack, std::string_view name) {
  if (stack.steps < 1 || stack.steps > kMaxSteps) {
    throw ConfigError(fmt::format("{}: {} steps, expected 1 to {}", name, stack.steps, kMaxSteps));
  }
  const float threshold = stack.halting_threshold.value_or(0.5f);
  if (!(threshold > 0.0f && threshold < 1.0f)) {
    throw ConfigError(fmt::format("{}: halting threshold {}, expected more than 0 and less than 1", name, threshold));
  }
}

// Returns `config`. Throws ConfigError if a value is out of range.
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

// Builds the token embedding: token ids [R] -> H_0 [R, D].
Graph embedding(const Config& config, const UniversalStackConfig& stack, const WeightScope& w, Dim rows) {
  Graph graph(w.path());
  const Edge ids = graph.input("token_ids", {rows}, DataType::int32);
  graph.output(graph.add<Embedding>(
      w / "embedding", {ids},
      EmbeddingOptions{.vocabulary = stack.vocabulary, .model_dim = config.model_dim, .scale = stack.embedding_scale}));
  return graph;
}

// Builds one step of the encoder (`rows` is kSourceRows) or of the decoder (kTargetRows), which
// also attends to the source. `key_values`: keys and values for cross-attention.
//   {state, step} or {state, step, key_values} -> next state and, with halting, the halting probability
template <class SelfAttention>
Graph block(const Config& config, const UniversalStackConfig& stack, const WeightScope& w, Dim rows) {
  const bool is_decoder = rows == kTargetRows;
  Graph graph(is_decoder ? "decoder_block" : "encoder_block");
  const auto add_norm = [&](const char* name, Edge x, Edge transformed) {
    return graph.add<AddNorm>(w / name, {x, transformed},
                              NormOptions{.width = config.model_dim, .epsilon = config.norm_epsilon});
  };
  const Edge state = graph.input("state", {rows, config.model_dim});
  const Edge step = graph.input("step", {1}, DataType::int32);
  std::optional<Edge> key_values;
  if (is_decoder) {
    const Shape shape{kSourceRows, 2 * config.attention().inner_dim()};
    key_values = graph.input("key_values", shape, key_value_type(w.pack().precision));
  }

  // X = H_{t-1} + P_t
  const PositionOptions positions{
      .model_dim = config.model_dim, .layout = config.layout, .offset = config.first_position};
  const Edge placed = graph.add<PositionalEncoding>(w / "positional_encoding", {state}, positions);
  const Edge x = graph.add((w / "timestep_encoding").path(),
                           std::make_shared<TimestepEncoding>(config.layout, config.model_dim), {placed, step});
  // A = norm(X + self_attention(X)), then cross-attention in the decoder
  const Edge attended = graph.add<SelfAttention>(w / "self_attention", {x}, config.attention());
  Edge mixed = add_norm("self_attention_norm", x, attended);
  if (key_values) {
    const Edge crossed = graph.add<CrossAttention>(w / "cross_attention", {mixed, *key_values}, config.attention());
    mixed = add_norm("cross_attention_norm", mixed, crossed);
  }
  // H_t = norm(A + transition(A))
  const Edge transformed = graph.add<FeedForward>(
      w / "transition", {mixed},
      FeedForwardOptions{
          .model_dim = config.model_dim, .hidden_dim = config.hidden_dim, .activation = config.activation});
  graph.output(add_norm("transition_norm", mixed, transformed));
  // p = sigmoid(halting(X))
  if (stack.halting_threshold) {
    graph.output(graph.add<Linear>(
        w / "halting", {x},
        LinearOptions{.input_width = config.model_dim, .output_width = 1, .activation = Activation::sigmoid}));
  }
  return graph;
}

// Builds the keys and values for cross-attention.
Graph source_key_values(const Config& config, const WeightScope& w) {
  Graph graph("source_key_values");
  const Edge encoded = graph.input("encoded", {kSourceRows, config.model_dim});
  graph.output(graph.add<CrossAttentionKeyValues>(w / "cross_attention", {encoded}, config.attention()));
  return graph;
}

// Builds the projection to logits.
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
      encoder_block(block<MultiHeadAttention>(config, config.encoder, weights / "encoder", kSourceRows)),
      source_key_values(lessons::source_key_values(config, weights / "decoder")),
      target_embedding(embedding(config, config.decoder, weights / "decoder", kTargetRows)),
      decoder_block(block<MaskedDecoderAttention>(config, config.decoder, weights / "decoder", kTargetRows)),
      output(output_projection(config, weights)) {}

}  // namespace lessons
