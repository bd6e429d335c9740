// Encoders with rotary positions: ModernBERT (Warner et al. 2024), GTE (Zhang et al. 2024), Nomic Embed (Nussbaum et
// al. 2024) and EuroBERT (Boizard et al. 2025).
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/families.h"
#include "encdec/models/families/head.h"
#include "encdec/models/families/name_table.h"
#include "encdec/models/network/blocks.h"

namespace encdec {
namespace {

constexpr NumberRange kFactors = {1.0, 1e6};

// Reads an encoder's sizes. `vocabulary` is the default vocabulary size. The other arguments are keys in config.json.
TransformerConfig read_sizes(const ConfigReader& config, Dim vocabulary, std::string_view model_dim = "hidden_size",
                             std::string_view layers = "num_hidden_layers",
                             std::string_view heads = "num_attention_heads",
                             std::string_view hidden_dim = "intermediate_size") {
  TransformerConfig result;
  result.architecture = Architecture::encoder_only;
  StackConfig& stack = result.encoder;
  stack.vocabulary = config.vocabulary("vocab_size", vocabulary);
  stack.layers = config.layers(layers, 12);
  stack.model_dim = config.width(model_dim, 768);
  stack.hidden_dim = config.width(hidden_dim, 3072);
  stack.positions.kind = PositionOptions::Kind::none;
  stack.embedding_norm = EmbeddingNorm::before_positions;
  stack.attention.heads = config.heads(heads, 12, stack.model_dim);
  stack.attention.bias = Bias::optional;
  stack.feed_forward = FeedForwardKind::gated;
  result.pad_token = config.pad_token(stack.vocabulary);
  return result;
}

// Returns the base of the rotation in layers of `kind` (ModernBERT), from rope_parameters or else from `older_key`.
float modern_bert_base(const JsonObject& json, std::string_view kind, std::string_view older_key, double missing) {
  if (const auto parameters = json.object("rope_parameters")) {
    if (const auto own = parameters->object(kind)) {
      own->expect("rope_type", "default");
      if (const auto base = own->number("rope_theta", {1.0, 1e9})) return static_cast<float>(*base);
    }
  }
  return static_cast<float>(json.number(older_key, {1.0, 1e9}).value_or(missing));
}

// Adds a block of ModernBERT. The first block has no attention norm, because the embeddings are already normalised.
Edge modern_bert_block(Block& block, Edge x) {
  return block.number() > 0 ? block.add(x) : block.feed_forward(block.attend(x, x));
}

TransformerConfig read_modern_bert(const JsonObject& json) {
  const ConfigReader config(json);
  TransformerConfig result = read_sizes(config, 50368);
  StackConfig& stack = result.encoder;
  stack.activation = config.activation("hidden_activation", "gelu");
  stack.norm_order = NormOrder::first;
  stack.norm = {.epsilon = config.epsilon("norm_eps", 1e-5), .bias = Bias::optional};
  stack.block = modern_bert_block;
  const float global_base = modern_bert_base(json, "full_attention", "global_rope_theta", 160'000);
  const float local_base = modern_bert_base(json, "sliding_attention", "local_rope_theta", 10'000);
  // Every n-th layer attends to all positions; the other layers attend to a window.
  const auto window = static_cast<int>(json.integer("local_attention", {1, 1 << 30}).value_or(128) / 2);
  const auto every = json.integer("global_attn_every_n_layers", {1, 1 << 30}).value_or(3);
  const std::vector<std::string> kinds = json.strings("layer_types");
  for (int layer = 0; layer < stack.layers; ++layer) {
    const auto index = static_cast<std::size_t>(layer);
    const bool is_global =
        kinds.empty() ? layer % every == 0 : index < kinds.size() && kinds[index] == "full_attention";
    AttentionOptions& attention = stack.layer_attention.emplace_back(stack.attention);
    attention.rotary.base = is_global ? global_base : local_base;
    if (!is_global) attention.limits = {.before = window, .after = window};
  }
  const Activation activation = config.activation("classifier_activation", "gelu");
  result.head = read_head(json, {activation, activation}, stack.vocabulary);
  // All heads have a dense layer with a norm.
  if (result.head.kind == HeadKind::none) return result;
  result.head.activation = activation;
  result.head.has_norm = true;
  const std::string pooling = json.string("classifier_pooling").value_or("cls");
  if (pooling == "mean") result.head.pooling = HeadPooling::mean;
  return result;
}

ModelDescription describe_modern_bert(const JsonObject& json, const WeightStore& weights) {
  const std::string layer = "model.layers.*.";
  const std::string merged = layer + "attn.Wqkv", gated = layer + "mlp.Wi";
  TransformerConfig network = read_modern_bert(json);
  const std::vector<NamePattern> head =
      head_names(json, network.head, {"head.dense", "classifier", "head.norm"}, {"head.dense", "decoder", "head.norm"},
                 "model.embeddings.tok_embeddings");
  return {std::move(network),
          without_missing_prefix("model.", weights,
                                 names_by_table(
                                     {
                                         {"encoder.embedding", {"model.embeddings.tok_embeddings"}},
                                         {"encoder.embedding_norm", {"model.embeddings.norm"}},
                                         {"encoder.norm", {"model.final_norm"}},
                                         {"encoder.*.self_attention.query", {part_of(merged, 0, 3)}},
                                         {"encoder.*.self_attention.key", {part_of(merged, 1, 3)}},
                                         {"encoder.*.self_attention.value", {part_of(merged, 2, 3)}},
                                         {"encoder.*.self_attention.output", {layer + "attn.Wo"}},
                                         {"encoder.*.self_attention_norm", {layer + "attn_norm"}},
                                         {"encoder.*.feed_forward.gate", {part_of(gated, 0, 2)}},
                                         {"encoder.*.feed_forward.expand", {part_of(gated, 1, 2)}},
                                         {"encoder.*.feed_forward.project", {layer + "mlp.Wo"}},
                                         {"encoder.*.feed_forward_norm", {layer + "mlp_norm"}},
                                     },
                                     head))};
}

// Sets the rotation of all layers from config.json.
void read_rotary(const JsonObject& json, std::string_view older_key, double missing, StackConfig& stack) {
  double base = json.number(older_key, {1.0, 1e9}).value_or(missing);
  RotaryOptions rotary;
  if (const auto parameters = json.object("rope_parameters")) {
    if (parameters->string("rope_type") == "dynamic") {
      rotary.growth = static_cast<float>(parameters->number("factor", kFactors).value_or(1.0));
      rotary.trained_positions = static_cast<int>(json.required_integer("max_position_embeddings", {1, 1 << 20}));
    } else {
      parameters->expect("rope_type", "default");
    }
    base = parameters->number("rope_theta", {1.0, 1e9}).value_or(base);
  }
  rotary.base = static_cast<float>(base);
  stack.attention.rotary = rotary;
}

// Describes GTE, whose first model_type was "new". If rope_scaling has type ntk and factor f, the angle of pair i grows
// by (theta f)^(-2i/K) / f^(2/K) from one position to the next, in texts of any length.
ModelDescription describe_gte(const JsonObject& json, const WeightStore& weights) {
  const ConfigReader config(json);
  for (const char* key : {"logn_attention_scale", "logn_attention_clip1"}) json.expect(key, false);
  json.expect("position_embedding_type", "rope");
  json.expect("layer_norm_type", "layer_norm");
  TransformerConfig network = read_sizes(config, 30528);
  StackConfig& stack = network.encoder;
  stack.activation = config.activation("hidden_act", "gelu");
  stack.norm.epsilon = config.epsilon("layer_norm_eps", 1e-12);
  stack.token_types = json.integer("type_vocab_size", {0, 1024}).value_or(0);
  network.head = read_head(json, {Activation::tanh, Activation::gelu}, stack.vocabulary);
  read_rotary(json, "rope_theta", 160'000, stack);
  if (const auto scaling = json.object("rope_scaling")) {
    scaling->expect("type", "ntk");
    const double factor = scaling->number("factor", kFactors).value_or(1.0);
    const double width = static_cast<double>(stack.model_dim) / stack.attention.heads;
    RotaryOptions& rotary = stack.attention.rotary;
    rotary.base *= static_cast<float>(factor);
    rotary.scale = static_cast<float>(1.0 / std::pow(factor, 2.0 / width));
  }
  const std::string prefix = has_prefix(weights, "gte.") ? "gte." : "new.", layer = prefix + "encoder.layer.*.";
  const std::string merged = layer + "attention.qkv_proj", gated = layer + "mlp.up_gate_proj";
  const std::string embedding = prefix + "embeddings.word_embeddings";
  const std::vector<NamePattern> head = head_names(json, network.head, {prefix + "pooler.dense", "classifier"},
                                                   {"lm_head.dense", "lm_head.decoder", "lm_head.norm"}, embedding);
  WeightNames names = names_by_table(
      {
          {"encoder.embedding", {embedding}},
          {"encoder.token_type_embedding", {prefix + "embeddings.token_type_embeddings"}},
          {"encoder.embedding_norm", {prefix + "embeddings.LayerNorm"}},
          {"encoder.*.self_attention.query", {part_of(merged, 0, 3)}},
          {"encoder.*.self_attention.key", {part_of(merged, 1, 3)}},
          {"encoder.*.self_attention.value", {part_of(merged, 2, 3)}},
          {"encoder.*.self_attention.output", {layer + "attention.o_proj"}},
          {"encoder.*.self_attention_norm", {layer + "attn_ln"}},
          {"encoder.*.feed_forward.expand", {part_of(gated, 0, 2)}},
          {"encoder.*.feed_forward.gate", {part_of(gated, 1, 2)}},
          {"encoder.*.feed_forward.project", {layer + "mlp.down_proj"}},
          {"encoder.*.feed_forward_norm", {layer + "mlp_ln"}},
      },
      head);
  return {std::move(network), without_missing_prefix(prefix, weights, std::move(names))};
}

// Describes Nomic Embed. Its config.json has GPT-2's keys or, since transformers 5, BERT's keys.
ModelDescription describe_nomic_bert(const JsonObject& json, const WeightStore& weights) {
  const ConfigReader config(json);
  json.expect("prenorm", false);
  json.expect("rotary_emb_fraction", 1.0);
  json.expect("rotary_emb_interleaved", false);
  json.expect("activation_function", "swiglu");
  TransformerConfig network = json.has("num_hidden_layers")
                                  ? read_sizes(config, 30528)
                                  : read_sizes(config, 30528, "n_embd", "n_layer", "n_head", "n_inner");
  StackConfig& stack = network.encoder;
  stack.activation = config.activation("hidden_act", "silu");
  stack.norm.epsilon = config.epsilon(json.has("layer_norm_eps") ? "layer_norm_eps" : "layer_norm_epsilon", 1e-12);
  stack.token_types = json.integer("type_vocab_size", {0, 1024}).value_or(2);
  network.head = read_head(json, {Activation::tanh, stack.activation}, stack.vocabulary);
  read_rotary(json, "rotary_emb_base", 1000, stack);
  if (const auto growth = json.number("rotary_scaling_factor", kFactors)) {
    stack.attention.rotary.growth = static_cast<float>(*growth);
    stack.attention.rotary.trained_positions = static_cast<int>(config.width("max_trained_positions", 2048));
  }
  const std::string prefix = "nomic_bert.", layer = prefix + "encoder.layers.*.", merged = layer + "attn.Wqkv";
  const std::string embedding = prefix + "embeddings.word_embeddings", predictions = "cls.predictions.";
  const std::vector<NamePattern> head = head_names(json, network.head, {prefix + "pooler.dense", "classifier"},
                                                   {predictions + "transform.dense", predictions + "decoder",
                                                    predictions + "transform.layer_norm", predictions + "bias"},
                                                   embedding);
  WeightNames names = names_by_table(
      {
          {"encoder.embedding", {embedding}},
          {"encoder.token_type_embedding", {prefix + "embeddings.token_type_embeddings"}},
          {"encoder.embedding_norm", {prefix + "emb_ln"}},
          {"encoder.*.self_attention.query", {part_of(merged, 0, 3)}},
          {"encoder.*.self_attention.key", {part_of(merged, 1, 3)}},
          {"encoder.*.self_attention.value", {part_of(merged, 2, 3)}},
          {"encoder.*.self_attention.output", {layer + "attn.out_proj"}},
          {"encoder.*.self_attention_norm", {layer + "norm1"}},
          {"encoder.*.feed_forward.gate", {layer + "mlp.fc12"}},
          {"encoder.*.feed_forward.expand", {layer + "mlp.fc11"}},
          {"encoder.*.feed_forward.project", {layer + "mlp.fc2"}},
          {"encoder.*.feed_forward_norm", {layer + "norm2"}},
      },
      head);
  return {std::move(network), without_missing_prefix(prefix, weights, std::move(names))};
}

HeadPooling euro_bert_pooling(const JsonObject& json) {
  const std::string name = json.string("classifier_pooling").value_or("late");
  if (name == "bos") return HeadPooling::first;
  if (name == "mean") return HeadPooling::mean;
  if (name == "late") return HeadPooling::mean_logits;
  refuse<ConfigError>(json.file(), "classifier_pooling '{}' is not supported, expected bos, mean or late",
                      printable(name));
}

// Describes EuroBERT, which has Llama's layers without the causal mask.
ModelDescription describe_euro_bert(const JsonObject& json, const WeightStore& weights) {
  const ConfigReader config(json);
  json.expect("rope_scaling", nullptr);
  TransformerConfig network = read_sizes(config, 128'256);
  StackConfig& stack = network.encoder;
  AttentionOptions& attention = stack.attention;
  attention.key_value_heads = config.key_value_heads(attention.heads, attention.heads);
  stack.embedding_norm = EmbeddingNorm::none;
  read_rotary(json, "rope_theta", 10'000, stack);
  attention.head_dim = json.integer("head_dim", {1, 1 << 20}).value_or(0);
  stack.activation = config.activation("hidden_act", "silu");
  stack.norm_order = NormOrder::first;
  stack.norm = {.kind = NormKind::rms, .epsilon = config.epsilon("rms_norm_eps", 1e-5)};
  network.head = read_classifier_head(json, Activation::gelu);
  network.head.pooling = euro_bert_pooling(json);
  const std::string layer = "model.layers.*.";
  return {std::move(network),
          without_missing_prefix("model.", weights,
                                 names_by_table({
                                     {"head.dense", {"dense"}},
                                     {"head.output", {"classifier"}},
                                     {"encoder.embedding", {"model.embed_tokens"}},
                                     {"encoder.norm", {"model.norm"}},
                                     {"encoder.*.self_attention.query", {layer + "self_attn.q_proj"}},
                                     {"encoder.*.self_attention.key", {layer + "self_attn.k_proj"}},
                                     {"encoder.*.self_attention.value", {layer + "self_attn.v_proj"}},
                                     {"encoder.*.self_attention.output", {layer + "self_attn.o_proj"}},
                                     {"encoder.*.self_attention_norm", {layer + "input_layernorm"}},
                                     {"encoder.*.feed_forward.gate", {layer + "mlp.gate_proj"}},
                                     {"encoder.*.feed_forward.expand", {layer + "mlp.up_proj"}},
                                     {"encoder.*.feed_forward.project", {layer + "mlp.down_proj"}},
                                     {"encoder.*.feed_forward_norm", {layer + "post_attention_layernorm"}},
                                 }))};
}

}  // namespace

std::vector<Family> rotary_encoders_families() {
  return {{"eurobert", describe_euro_bert},
          {"gte", describe_gte},
          {"modernbert", describe_modern_bert},
          {"new", describe_gte},
          {"nomic_bert", describe_nomic_bert}};
}

}  // namespace encdec
