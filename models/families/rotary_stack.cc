#include "encdec/models/families/rotary_stack.h"

#include <cmath>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/families/config_reader.h"

namespace encdec {
namespace {

constexpr NumberRange kBases{1.0, 1e12}, kScalings{1.0, 1e6}, kCaps{1e-3, 1e6};

// Reads the rotation of layers of `kind` (such as "full_attention") from rope_parameters (transformers 5) or, for full
// attention only, from rope_scaling (transformers 4).
RotaryOptions read_rotation(const JsonObject& json, std::string_view kind, double base) {
  RotaryOptions rotary;
  auto settings = json.object("rope_parameters");
  if (!settings && kind == "full_attention") settings = json.object("rope_scaling");
  if (settings && settings->has(kind)) settings = settings->object(kind);
  if (settings) {
    base = settings->number("rope_theta", kBases).value_or(base);
    const std::string type = settings->string(settings->has("rope_type") ? "rope_type" : "type").value_or("default");
    const double factor = settings->number("factor", kScalings).value_or(1.0);
    // Type "linear" scales all angles; type "llama3" only slows down the low frequencies.
    if (type == "linear") {
      rotary.scale = static_cast<float>(1.0 / factor);
    } else if (type == "llama3") {
      rotary.slowdown = {.factor = factor,
                         .low = settings->number("low_freq_factor", kCaps).value_or(1.0),
                         .high = settings->number("high_freq_factor", kCaps).value_or(4.0),
                         .positions = settings->number("original_max_position_embeddings", kScalings).value_or(8192)};
      if (rotary.slowdown.low >= rotary.slowdown.high) {
        refuse<ConfigError>(json.file(), "low_freq_factor {} is not below high_freq_factor {}", rotary.slowdown.low,
                            rotary.slowdown.high);
      }
    } else if (type != "default") {
      refuse<ConfigError>(json.file(), "rope_type '{}' is not supported, expected default, linear or llama3",
                          printable(type));
    }
  }
  rotary.base = static_cast<float>(base);
  return rotary;
}

// Returns a cap. If the setting is null, returns 0, which means no cap.
float read_cap(const JsonObject& json, std::string_view key, double missing) {
  const bool is_given = json.value().contains(key);
  return static_cast<float>(json.number(key, kCaps).value_or(is_given ? 0 : missing));
}

// Returns for each layer whether it has a window: from layer_types if present, else from the model's pattern.
std::vector<bool> windowed_layers(const JsonObject& json, const RotaryStackDefaults& missing, int layers) {
  using Windows = RotaryStackDefaults::Windows;
  std::vector<bool> windowed(static_cast<std::size_t>(layers), missing.windows == Windows::all);
  if (missing.windows == Windows::none ||
      !json.boolean("use_sliding_window").value_or(missing.windows != Windows::last)) {
    return windowed;
  }
  const std::vector<std::string> kinds = json.strings("layer_types");
  const auto every = json.integer("sliding_window_pattern", {1, 1 << 20}).value_or(missing.every);
  const auto first = json.integer("max_window_layers", {0, 1 << 20}).value_or(28);
  for (std::size_t i = 0; i < windowed.size(); ++i) {
    if (i < kinds.size()) {
      windowed[i] = kinds[i] == "sliding_attention";
      if (windowed[i] || kinds[i] == "full_attention") continue;
      refuse<ConfigError>(json.file(), "layer_types has '{}', expected full_attention or sliding_attention",
                          printable(kinds[i]));
    }
    const auto number = static_cast<std::int64_t>(i);
    if (missing.windows == Windows::but_each_nth) windowed[i] = (number + 1) % every != 0;
    if (missing.windows == Windows::last) windowed[i] = number >= first;
  }
  return windowed;
}

}  // namespace

StackConfig read_rotary_stack(const JsonObject& json, const RotaryStackDefaults& missing) {
  const ConfigReader config(json);
  StackConfig stack;
  stack.vocabulary = config.vocabulary("vocab_size", missing.vocabulary);
  stack.layers = config.layers("num_hidden_layers", missing.layers);
  stack.model_dim = config.width("hidden_size", missing.model_dim);
  stack.hidden_dim = config.width("intermediate_size", missing.hidden_dim);
  stack.positions.kind = PositionOptions::Kind::none;
  stack.feed_forward = FeedForwardKind::gated;
  stack.activation = config.activation(missing.activation_key, missing.activation);
  stack.norm = {.kind = NormKind::rms, .epsilon = config.epsilon("rms_norm_eps", 1e-6), .less_one = missing.is_gemma};
  stack.norm_order = missing.is_gemma ? NormOrder::both : NormOrder::first;
  if (missing.is_gemma) stack.embedding_scale = std::sqrt(static_cast<float>(stack.model_dim));
  AttentionOptions& attention = stack.attention;
  attention.heads = static_cast<int>(config.width("num_attention_heads", missing.heads));
  attention.head_dim = config.width("head_dim", missing.head_dim);
  if (attention.head_dim == 0) config.heads("num_attention_heads", missing.heads, stack.model_dim);  // only a check
  attention.key_value_heads =
      config.key_value_heads(missing.key_value_heads == 0 ? attention.heads : missing.key_value_heads, attention.heads);
  attention.bias = Bias::optional;
  if (missing.has_head_norm) attention.head_norm = stack.norm;
  if (missing.is_gemma) {
    const double divisor = json.number("query_pre_attn_scalar", {1e-3, 1e6}).value_or(256);
    attention.score_scale = static_cast<float>(1.0 / std::sqrt(divisor));
    attention.score_cap = read_cap(json, "attn_logit_softcapping", missing.score_cap);
  }
  // Layers with a window may have a different rotation. A null sliding_window disables all windows.
  const double base = json.number("rope_theta", kBases).value_or(missing.base);
  attention.rotary = read_rotation(json, "full_attention", base);
  const bool sees_all = json.value().contains("sliding_window") && !json.has("sliding_window");
  const std::int64_t window = json.integer("sliding_window", {1, 1 << 30}).value_or(4096);
  const std::vector<bool> windowed = windowed_layers(json, missing, stack.layers);
  for (const bool has_window : windowed) {
    AttentionOptions& layer = stack.layer_attention.emplace_back(attention);
    if (!has_window || sees_all) continue;
    layer.limits = {.before = static_cast<int>(window) - 1, .after = 0};
    if (missing.local_base > 0) {
      const double local = json.number("rope_local_base_freq", kBases).value_or(missing.local_base);
      layer.rotary = read_rotation(json, "sliding_attention", local);
    }
  }
  return stack;
}

float logits_cap_of(const JsonObject& json, double missing) {
  return read_cap(json, "final_logit_softcapping", missing);
}

std::vector<NamePattern> rotary_stack_names(const std::string& stack, const std::string& prefix) {
  const std::string layer = prefix + "layers.*.", attention = layer + "self_attn.", source = layer + "cross_attn.";
  std::vector<NamePattern> names = {
      {"embedding", {prefix + "embed_tokens"}},
      {"norm", {prefix + "norm"}},
      {"*.self_attention.query", {attention + "q_proj"}},
      {"*.self_attention.key", {attention + "k_proj"}},
      {"*.self_attention.value", {attention + "v_proj"}},
      {"*.self_attention.output", {attention + "o_proj"}},
      {"*.self_attention.query_norm", {attention + "q_norm"}},
      {"*.self_attention.key_norm", {attention + "k_norm"}},
      {"*.cross_attention.query", {source + "q_proj"}},
      {"*.cross_attention.key", {source + "k_proj"}},
      {"*.cross_attention.value", {source + "v_proj"}},
      {"*.cross_attention.output", {source + "o_proj"}},
      {"*.feed_forward.gate", {layer + "mlp.gate_proj"}},
      {"*.feed_forward.expand", {layer + "mlp.up_proj"}},
      {"*.feed_forward.project", {layer + "mlp.down_proj"}},
      // Gemma's names come before T5Gemma's, except post_attention_layernorm, which in Llama is feed_forward_norm.
      {"*.self_attention_norm", {layer + "input_layernorm", layer + "pre_self_attn_layernorm"}},
      {"*.self_attention_norm_after", {layer + "post_self_attn_layernorm", layer + "post_attention_layernorm"}},
      {"*.cross_attention_norm", {layer + "pre_cross_attn_layernorm"}},
      {"*.cross_attention_norm_after", {layer + "post_cross_attn_layernorm"}},
      {"*.feed_forward_norm", {layer + "pre_feedforward_layernorm", layer + "post_attention_layernorm"}},
      {"*.feed_forward_norm_after", {layer + "post_feedforward_layernorm"}},
  };
  for (NamePattern& name : names) name.canonical = stack + "." + name.canonical;
  return names;
}

}  // namespace encdec
