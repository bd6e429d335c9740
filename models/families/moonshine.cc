// Moonshine (Jeffries et al. 2024) and Moonshine Streaming (arXiv 2602.12241) as stored by transformers.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/families.h"
#include "encdec/models/families/name_table.h"

namespace encdec {
namespace {

// Returns the rotation of rope_parameters, or else of the older keys beside it.
RotaryOptions read_rotary(const JsonObject& json, double missing_share) {
  const std::optional<JsonObject> parameters = json.object("rope_parameters");
  if (parameters) parameters->expect("rope_type", "default");
  json.expect("rope_scaling", nullptr);
  const auto number = [&](const char* key, NumberRange range, double missing) {
    const auto newer = parameters ? parameters->number(key, range) : std::nullopt;
    return newer ? *newer : json.number(key, range).value_or(missing);
  };
  return {.base = static_cast<float>(number("rope_theta", {1.0, 1e9}, 10'000)),
          .share = number("partial_rotary_factor", {0.0, 1.0}, missing_share),
          .neighbours = true};
}

// Reads what both models have in common.
TransformerConfig read_sizes(const ConfigReader& config) {
  TransformerConfig result;
  result.bias = Bias::optional;
  result.norm_bias = Bias::none;
  result.norm_order = NormOrder::first;
  result.output_bias = Bias::none;
  result.feed_forward = FeedForwardKind::gated;
  result.encoder.feed_forward = FeedForwardKind::plain;
  result.encoder.positions.kind = result.decoder.positions.kind = PositionOptions::Kind::none;
  result.decoder.vocabulary = config.vocabulary("vocab_size", 32768);
  result.pad_token = config.pad_token(result.decoder.vocabulary);
  result.decoder_start_token = config.token("decoder_start_token_id", result.decoder.vocabulary);
  if (!result.decoder_start_token) {
    result.decoder_start_token = config.token("bos_token_id", result.decoder.vocabulary).value_or(1);
  }
  return result;
}

// Sets a stack's heads. Throws ConfigError if `key_value_heads` is another number.
void read_heads(const ConfigReader& config, std::string_view heads, std::string_view key_value_heads,
                StackConfig& stack) {
  stack.heads = static_cast<int>(config.width(heads, 8));
  if (const Dim shared = config.width(key_value_heads, stack.heads); shared != stack.heads) {
    refuse<ConfigError>(config.json().file(), "{} is {}, expected {} as in {}", key_value_heads, shared, stack.heads,
                        heads);
  }
}

// Returns the names of tensors that both models have.
std::vector<NamePattern> layer_names() {
  const std::string layer = "model.%.layers.*.", decoder = "model.decoder.layers.*.";
  return {
      {"%.*.self_attention.query", {layer + "self_attn.q_proj"}},
      {"%.*.self_attention.key", {layer + "self_attn.k_proj"}},
      {"%.*.self_attention.value", {layer + "self_attn.v_proj"}},
      {"%.*.self_attention.output", {layer + "self_attn.o_proj"}},
      {"%.*.self_attention_norm", {layer + "input_layernorm"}},
      {"decoder.*.cross_attention.query", {decoder + "encoder_attn.q_proj"}},
      {"decoder.*.cross_attention.key", {decoder + "encoder_attn.k_proj"}},
      {"decoder.*.cross_attention.value", {decoder + "encoder_attn.v_proj"}},
      {"decoder.*.cross_attention.output", {decoder + "encoder_attn.o_proj"}},
      {"decoder.*.cross_attention_norm", {decoder + "post_attention_layernorm"}},
      {"decoder.*.feed_forward.expand", {part_of(decoder + "mlp.fc1", 0, 2)}},
      {"decoder.*.feed_forward.gate", {part_of(decoder + "mlp.fc1", 1, 2)}},
      {"decoder.*.feed_forward_norm", {decoder + "final_layernorm"}},
      {"encoder.*.feed_forward.expand", {"model.encoder.layers.*.mlp.fc1"}},
      {"%.*.feed_forward.project", {layer + "mlp.fc2"}},
      {"encoder.*.feed_forward_norm", {"model.encoder.layers.*.post_attention_layernorm"}},
      {"decoder.norm", {"model.decoder.norm"}},
      {"decoder.embedding", {"model.decoder.embed_tokens"}},
      {"encoder.convolution_1", {"model.encoder.conv1"}},
      {"encoder.convolution_2", {"model.encoder.conv2"}},
  };
}

NamePattern output_name(const ConfigReader& config, bool missing) {
  std::vector<StoredName> output{"proj_out"};
  if (config.flag("tie_word_embeddings", missing)) output.push_back("model.decoder.embed_tokens");
  return {"output_projection", std::move(output)};
}

ModelDescription describe_moonshine(const JsonObject& json, const WeightStore& /*weights*/) {
  const ConfigReader config(json);
  for (const char* key : {"dim", "enc_depth", "ff_mult"}) {
    if (json.has(key)) {
      refuse<ConfigError>(json.file(), "'{}' belongs to an old format of Moonshine, expected one with hidden_size",
                          key);
    }
  }
  TransformerConfig result = read_sizes(config);
  result.model_dim = config.width("hidden_size", 288);
  result.head_dim = json.integer("head_dim", {1, 1 << 20}).value_or(0);
  result.activation = config.activation("decoder_hidden_act", "silu");
  StackConfig &encoder = result.encoder, &decoder = result.decoder;
  encoder.activation = config.activation("encoder_hidden_act", "gelu");
  encoder.frames = {.width = 1, .per_row = 1, .front = SoundFront::waveform};
  for (const auto& [kernel, stride] : kWaveformConvolutions) encoder.frames.per_row *= stride;
  encoder.layers = config.layers("encoder_num_hidden_layers", 6);
  decoder.layers = config.layers("decoder_num_hidden_layers", 6);
  encoder.hidden_dim = decoder.hidden_dim = config.width("intermediate_size", 1152);
  read_heads(config, "encoder_num_attention_heads", "encoder_num_key_value_heads", encoder);
  read_heads(config, "decoder_num_attention_heads", "decoder_num_key_value_heads", decoder);
  decoder.positions.count = config.width("max_position_embeddings", 512);
  for (StackConfig* stack : {&encoder, &decoder}) {
    if (result.head_dim == 0) config.check_heads(*stack, result.model_dim, "num_attention_heads");
    stack->layer_attention.assign(static_cast<std::size_t>(stack->layers), {.rotary = read_rotary(json, 0.9)});
  }
  return {std::move(result), names_by_table(layer_names(), {
                                                               {"encoder.convolution_3", {"model.encoder.conv3"}},
                                                               {"encoder.group_norm", {"model.encoder.groupnorm"}},
                                                               {"encoder.norm", {"model.encoder.layer_norm"}},
                                                               output_name(config, true),
                                                           })};
}

// Sets the keys that each layer's queries see: [left, right] of sliding_windows means that a query sees left - 1 keys
// before itself and right - 1 after.
void read_windows(const JsonObject& json, StackConfig& encoder) {
  auto windows = json.integer_lists("sliding_windows", {0, 4096});
  if (windows.empty()) windows = {{16, 4}, {16, 4}, {16, 0}, {16, 0}, {16, 4}, {16, 4}};
  if (static_cast<int>(windows.size()) != encoder.layers) {
    refuse<ConfigError>(json.file(), "{} sliding_windows, expected {}: one for each layer of the encoder",
                        windows.size(), encoder.layers);
  }
  for (const auto& window : windows) {
    if (window.size() != 2 || window[0] < 1) {
      refuse<ConfigError>(json.file(), "sliding_windows: expected pairs of a number from 1 and a number from 0");
    }
    encoder.layer_attention.push_back({.window = static_cast<int>(window[0] - 1),
                                       .ahead = static_cast<int>(std::max<std::int64_t>(window[1] - 1, 0))});
  }
}

ModelDescription describe_moonshine_streaming(const JsonObject& json, const WeightStore& /*weights*/) {
  const ConfigReader config(json);
  const JsonObject encoder_json = json.required_object("encoder_config");
  const ConfigReader encoder_config(encoder_json);
  encoder_json.expect("sample_rate", 16'000);
  encoder_json.expect("frame_ms", 5.0);
  TransformerConfig result = read_sizes(config);
  result.model_dim = config.width("hidden_size", 320);
  result.activation = config.activation("hidden_act", "silu");
  StackConfig &encoder = result.encoder, &decoder = result.decoder;
  encoder.model_dim = encoder_config.width("hidden_size", 320);
  encoder.activation = encoder_config.activation("hidden_act", "gelu");
  encoder.frames = {.width = 1, .per_row = 320, .front = SoundFront::streaming};
  encoder.norms_less_one = true;
  for (const auto& [reader, stack] : {std::pair(&config, &decoder), {&encoder_config, &encoder}}) {
    stack->layers = reader->layers("num_hidden_layers", 6);
    stack->hidden_dim = reader->width("intermediate_size", 1280);
    stack->head_dim = reader->json().integer("head_dim", {1, 1 << 20}).value_or(0);
    read_heads(*reader, "num_attention_heads", "num_key_value_heads", *stack);
    if (stack->head_dim == 0) reader->check_heads(*stack, result.width_of(*stack), "num_attention_heads");
  }
  read_windows(encoder_json, encoder);
  // A decoder adds positions to the rows of the encoder that it reads.
  decoder.positions.count = config.width("max_position_embeddings", 4096);
  encoder.positions = {.kind = PositionOptions::Kind::learned, .count = decoder.positions.count};
  // In rope_parameters, transformers takes a missing share for 1.
  const RotaryOptions rotary = read_rotary(json, json.has("rope_parameters") ? 1.0 : 0.8);
  decoder.layer_attention.assign(static_cast<std::size_t>(decoder.layers), {.rotary = rotary});
  const std::string layer = "model.encoder.layers.*.", embedder = "model.encoder.embedder.";
  std::vector<NamePattern> names = {
      {"encoder.frame_embedding.compression", {embedder + "comp"}},
      {"encoder.frame_embedding.linear", {embedder + "linear"}},
      {"encoder.convolution_1", {embedder + "conv1"}},
      {"encoder.convolution_2", {embedder + "conv2"}},
      {"encoder.*.self_attention_norm.weight", {layer + "input_layernorm.gamma"}},
      {"encoder.*.feed_forward_norm.weight", {layer + "post_attention_layernorm.gamma"}},
      {"encoder.norm.weight", {"model.encoder.final_norm.gamma"}},
      {"encoder.memory_positions", {"model.decoder.pos_emb"}},
      {"encoder.memory_projection", {"model.decoder.proj"}},
      output_name(config, false),
  };
  return {std::move(result), names_by_table(std::move(names), layer_names())};
}

}  // namespace

std::vector<Family> moonshine_families() {
  return {{"moonshine", describe_moonshine}, {"moonshine_streaming", describe_moonshine_streaming}};
}

}  // namespace encdec
