// Moonshine (Jeffries et al. 2024) and Moonshine Streaming (arXiv 2602.12241) as stored by transformers.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/layers/transformer/convolution_1d.h"
#include "encdec/layers/transformer/frame_embedding.h"
#include "encdec/layers/transformer/group_norm.h"
#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/families.h"
#include "encdec/models/families/name_table.h"
#include "encdec/models/network/blocks.h"

namespace encdec {
namespace {

// Returns the rotation in rope_parameters, or else in the older keys at the top level.
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

TransformerConfig read_sizes(const ConfigReader& config) {
  TransformerConfig result;
  for (StackConfig* stack : {&result.encoder, &result.decoder}) {
    stack->attention.bias = Bias::optional;
    stack->norm.bias = Bias::none;
    stack->norm_order = NormOrder::first;
    stack->positions.kind = PositionOptions::Kind::none;
  }
  result.output_bias = Bias::none;
  result.decoder.feed_forward = FeedForwardKind::gated;
  result.decoder.vocabulary = config.vocabulary("vocab_size", 32768);
  result.pad_token = config.pad_token(result.decoder.vocabulary);
  result.decoder_start_token = config.token("decoder_start_token_id", result.decoder.vocabulary);
  if (!result.decoder_start_token) {
    result.decoder_start_token = config.token("bos_token_id", result.decoder.vocabulary).value_or(1);
  }
  return result;
}

// Sets the heads of a stack from keys that begin with `side`. Throws ConfigError if the number of key-value heads
// differs from the number of heads.
void read_heads(const ConfigReader& config, const std::string& side, StackConfig& stack) {
  const std::string key = side + "num_attention_heads", shared_key = side + "num_key_value_heads";
  AttentionOptions& attention = stack.attention;
  attention.head_dim = config.json().integer("head_dim", {1, 1 << 20}).value_or(0);
  attention.heads =
      attention.head_dim > 0 ? static_cast<int>(config.width(key, 8)) : config.heads(key, 8, stack.model_dim);
  if (const Dim shared = config.width(shared_key, attention.heads); shared != attention.heads) {
    refuse<ConfigError>(config.json().file(), "{} is {}, expected {} as in {}", shared_key, shared, attention.heads,
                        key);
  }
}

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

// Returns the names of the output projection. `missing` is the default of tie_word_embeddings.
NamePattern output_name(const ConfigReader& config, bool missing) {
  std::vector<StoredName> output{"proj_out"};
  if (config.flag("tie_word_embeddings", missing)) output.push_back("model.decoder.embed_tokens");
  return {"output_projection", std::move(output)};
}

// Moonshine's convolutions of samples. The last outputs of a source may depend on the zeros after it.
const std::vector<Window> kConvolutions = {
    {.kernel = 127, .stride = 64}, {.kernel = 7, .stride = 3}, {.kernel = 3, .stride = 2}};

// Adds Transformer::front of Moonshine. An input row has per_row samples. An output row has one position.
void add_convolutions(Stack& stack) {
  Graph& graph = stack.graph();
  const Dim width = stack.width();
  const std::array widths = {Dim{1}, width, 2 * width, width};
  Dim positions_per_row = stack.config().frames.per_row;
  Edge x = graph.input("source_samples", {kSourceRows, positions_per_row});
  const Edge positions = graph.input("source_positions", {kBatch}, DataType::int32);
  for (std::size_t i = 0; i < kConvolutions.size(); ++i) {
    const auto [kernel, stride] = kConvolutions[i];
    const WeightScope scope = stack.weights() / fmt::format("convolution_{}", i + 1);
    x = graph.add<Convolution1d>(i == 0 ? scope.in(Precision::float32) : scope, {x},
                                 Convolution1dOptions{.input_width = widths[i],
                                                      .output_width = widths[i + 1],
                                                      .kernel = kernel,
                                                      .stride = stride,
                                                      .bias = i == 0 ? Bias::none : Bias::required,
                                                      .activation = i == 0 ? Activation::tanh : Activation::gelu,
                                                      .positions_per_row = positions_per_row});
    positions_per_row /= stride;
    if (i == 0) {
      x = graph.add<GroupNorm>(stack.weights() / "group_norm", {x, positions},
                               GroupNormOptions{.channels = width, .positions_per_row = positions_per_row});
    }
  }
  graph.output(x);
}

// Describes Moonshine. Refuses checkpoints in an older format, which has other keys.
ModelDescription describe_moonshine(const JsonObject& json, const WeightStore& /*weights*/) {
  const ConfigReader config(json);
  for (const char* key : {"dim", "enc_depth", "ff_mult"}) {
    if (json.has(key)) {
      refuse<ConfigError>(json.file(), "'{}' belongs to an old format of Moonshine, expected one with hidden_size",
                          key);
    }
  }
  TransformerConfig result = read_sizes(config);
  StackConfig &encoder = result.encoder, &decoder = result.decoder;
  encoder.frames = {.width = 1, .windows = kConvolutions};
  for (const Window& window : kConvolutions) encoder.frames.per_row *= window.stride;
  encoder.front = add_convolutions;
  encoder.compose = [](Stack& stack, Edge rows) { return stack.add_blocks(rows); };
  for (const auto& [side, stack] : {std::pair("encoder_", &encoder), {"decoder_", &decoder}}) {
    stack->layers = config.layers(fmt::format("{}num_hidden_layers", side), 6);
    stack->model_dim = config.width("hidden_size", 288);
    stack->hidden_dim = config.width("intermediate_size", 1152);
    read_heads(config, side, *stack);
    stack->attention.rotary = read_rotary(json, 0.9);
  }
  encoder.activation = config.activation("encoder_hidden_act", "gelu");
  decoder.activation = config.activation("decoder_hidden_act", "silu");
  decoder.positions.count = config.width("max_position_embeddings", 512);
  return {std::move(result), names_by_table(layer_names(), {
                                                               {"encoder.convolution_3", {"model.encoder.conv3"}},
                                                               {"encoder.group_norm", {"model.encoder.groupnorm"}},
                                                               {"encoder.norm", {"model.encoder.layer_norm"}},
                                                               output_name(config, true),
                                                           })};
}

// Sets the window of each layer. [left, right] in sliding_windows means that a query sees left - 1 keys before itself
// and right - 1 keys after itself.
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
    AttentionOptions& attention = encoder.layer_attention.emplace_back(encoder.attention);
    attention.limits = {.before = static_cast<int>(window[0] - 1),
                        .after = static_cast<int>(std::max<std::int64_t>(window[1] - 1, 0))};
    attention.in_pieces = true;
  }
}

// Number of samples per frame, and number of frames per row of samples.
constexpr Dim kFrame = 80, kFramesPerRow = 4;

// Adds Transformer::front of Moonshine Streaming, which is the whole encoder: frames of samples, two causal
// convolutions, and layers with limited attention. The encoder can therefore read an endless sequence (transformers,
// modeling_moonshine_streaming.py).
void add_streaming_encoder(Stack& stack) {
  constexpr Dim kKernel = 5, kStride = 2;
  Graph& graph = stack.graph();
  const Dim width = stack.width();
  const Edge samples = graph.input("source_samples", {kSourceRows, kFrame * kFramesPerRow});
  Edge x = graph.add<FrameEmbedding>(
      stack.weights() / "frame_embedding", {samples},
      FrameEmbeddingOptions{.frame = kFrame, .frames_per_row = kFramesPerRow, .model_dim = width});
  Convolution1dOptions options{.input_width = width,
                               .output_width = 2 * width,
                               .kernel = kKernel,
                               .stride = kStride,
                               .padding = kKernel - 1,
                               .activation = Activation::silu,
                               .positions_per_row = kFramesPerRow};
  x = graph.add<Convolution1d>(stack.weights() / "convolution_1", {x}, options);
  std::swap(options.input_width, options.output_width);
  options.activation = Activation::identity;
  options.positions_per_row /= kStride;
  stack.add_blocks(graph.add<Convolution1d>(stack.weights() / "convolution_2", {x}, options));
}

// Makes the encoder's rows an output of the graph. Returns the rows plus positions, projected to the decoder's width.
Edge add_decoder_view(Stack& stack, Edge rows, Dim decoder_width) {
  stack.graph().output(rows);
  const Edge x = stack.add_positions("memory_positions", {rows}, stack.width());
  if (stack.width() == decoder_width) return x;
  return stack.graph().add<Linear>(
      stack.weights() / "memory_projection", {x},
      LinearOptions{.input_width = stack.width(), .output_width = decoder_width, .bias = Bias::none});
}

ModelDescription describe_moonshine_streaming(const JsonObject& json, const WeightStore& /*weights*/) {
  const ConfigReader config(json);
  const JsonObject encoder_json = json.required_object("encoder_config");
  const ConfigReader encoder_config(encoder_json);
  encoder_json.expect("sample_rate", 16'000);
  encoder_json.expect("frame_ms", 5.0);
  TransformerConfig result = read_sizes(config);
  StackConfig &encoder = result.encoder, &decoder = result.decoder;
  encoder.frames = {.width = 1,
                    .per_row = kFrame * kFramesPerRow,
                    .windows = {{.stride = kFrame * kFramesPerRow}},
                    .counted = kFrame,
                    .reads_chunks = true};
  encoder.norm.less_one = true;
  for (const auto& [reader, stack] : {std::pair(&config, &decoder), {&encoder_config, &encoder}}) {
    stack->layers = reader->layers("num_hidden_layers", 6);
    stack->model_dim = reader->width("hidden_size", 320);
    stack->hidden_dim = reader->width("intermediate_size", 1280);
    read_heads(*reader, "", *stack);
  }
  encoder.activation = encoder_config.activation("hidden_act", "gelu");
  decoder.activation = config.activation("hidden_act", "silu");
  encoder.front = add_streaming_encoder;
  encoder.compose = [width = decoder.model_dim](Stack& stack, Edge rows) {
    return add_decoder_view(stack, rows, width);
  };
  read_windows(encoder_json, encoder);
  decoder.positions.count = config.width("max_position_embeddings", 4096);
  encoder.positions = {.kind = PositionOptions::Kind::learned, .count = decoder.positions.count};
  // If rope_parameters has no partial_rotary_factor, transformers uses 1.
  decoder.attention.rotary = read_rotary(json, json.has("rope_parameters") ? 1.0 : 0.8);
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
