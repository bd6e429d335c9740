// T5 (Raffel et al. 2020) versions 1.0 and 1.1 (also FLAN-T5, and ByT5: Xue et al. 2022), mT5 (Xue et al. 2021) and
// UMT5 (Chung et al. 2023).
#include <array>
#include <cmath>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/families.h"
#include "encdec/models/families/head.h"
#include "encdec/models/families/name_table.h"

namespace encdec {
namespace {

// Reads feed_forward_proj, such as "relu" or "gated-silu". "gated-gelu" means the tanh approximation of GELU.
void read_feed_forward(const ConfigReader& config, std::string_view missing, StackConfig& stack) {
  std::string name = config.json().string("feed_forward_proj").value_or(std::string(missing));
  if (name == "gated-gelu") name = "gated-gelu_new";
  if (name.starts_with("gated-")) {
    stack.feed_forward = FeedForwardKind::gated;
    name.erase(0, std::string_view("gated-").size());
  }
  const auto activation = activation_named(name);
  if (!activation) {
    refuse<ConfigError>(config.json().file(),
                        "feed_forward_proj '{}' is not supported, expected one of {}, or one after 'gated-'",
                        printable(name), activation_names());
  }
  stack.activation = *activation;
}

// Whether logits are scaled by 1 / sqrt(D). where_tied: only if embedding and output are tied.
enum class LogitsScale { none, where_tied, always };

struct Version {
  std::string_view model_type;
  std::string_view feed_forward;
  int layers;
  Dim heads;
  Dim hidden_dim;
  Dim vocabulary;
  LogitsScale logits_scale;     // as in transformers 5
  std::string_view bias_block;  // block that stores a layer's relative position biases; "*" means the layer itself
};

constexpr std::array kVersions = {
    Version{"t5", "relu", 6, 8, 2048, 32128, LogitsScale::where_tied, "0"},
    Version{"mt5", "gated-gelu", 8, 6, 1024, 250112, LogitsScale::none, "0"},
    Version{"umt5", "gated-gelu", 8, 6, 1024, 250112, LogitsScale::always, "*"},
};

bool scales_logits(const JsonObject& json, LogitsScale scale) {
  if (scale != LogitsScale::where_tied) return scale == LogitsScale::always;
  const bool tied = json.boolean("tie_word_embeddings").value_or(true);
  return json.boolean("scale_decoder_outputs").value_or(tied);
}

TransformerConfig read_t5_config(const JsonObject& json, const Version& version) {
  const ConfigReader config(json);
  TransformerConfig result;
  StackConfig stack;
  stack.vocabulary = config.vocabulary("vocab_size", version.vocabulary);
  stack.layers = config.layers("num_layers", version.layers);
  stack.model_dim = config.width("d_model", 512);
  stack.hidden_dim = config.width("d_ff", version.hidden_dim);
  stack.positions.kind = PositionOptions::Kind::none;
  stack.attention.heads = static_cast<int>(config.width("num_heads", version.heads));
  stack.attention.head_dim = config.width("d_kv", 64);
  stack.attention.bias = Bias::none;
  stack.attention.score_scale = 1.0f;  // no 1 / sqrt(K): T5 scales the initial weights instead
  stack.attention.relative_positions = {
      .buckets = static_cast<int>(config.width("relative_attention_num_buckets", 32)),
      .max_distance = static_cast<int>(json.integer("relative_attention_max_distance", {1, 1 << 16}).value_or(128))};
  read_feed_forward(config, version.feed_forward, stack);
  stack.norm_order = NormOrder::first;
  stack.norm = {.kind = NormKind::rms, .epsilon = config.epsilon("layer_norm_epsilon", 1e-6)};
  result.encoder = result.decoder = stack;
  result.decoder.attention.relative_positions.direction = RelativePositions::Direction::backward;
  result.decoder.layers = config.layers("num_decoder_layers", stack.layers);
  result.output_bias = Bias::none;
  result.pad_token = config.pad_token(stack.vocabulary);
  result.decoder_start_token = config.token("decoder_start_token_id", stack.vocabulary).value_or(0);
  result.head = read_decoder_head(json, stack.vocabulary, 1, result.decoder_start_token);
  // A token classifier has only the encoder.
  if (result.head.kind == HeadKind::tokens) {
    result.architecture = Architecture::encoder_only;
    result.decoder = {};
  }
  if (scales_logits(json, version.logits_scale)) {
    result.logits_scale = 1.0f / std::sqrt(static_cast<float>(stack.model_dim));
  }
  return result;
}

WeightNames t5_weight_names(const Version& version, const WeightStore& weights) {
  const std::string encoder = "encoder.embed_tokens", decoder = "decoder.embed_tokens", output = "lm_head";
  std::vector<NamePattern> table = {
      {"encoder.embedding", {encoder, "shared", decoder, output}},
      {"decoder.embedding", {decoder, "shared", encoder, output}},
      {"output_projection", {output, "shared", decoder, encoder}},
      {"%.norm", {"%.final_layer_norm"}},
      {"%.*.self_attention.relative_position_bias",
       {fmt::format("%.block.{}.layer.0.SelfAttention.relative_attention_bias", version.bias_block)}},
      {"%.*.self_attention.query", {"%.block.*.layer.0.SelfAttention.q"}},
      {"%.*.self_attention.key", {"%.block.*.layer.0.SelfAttention.k"}},
      {"%.*.self_attention.value", {"%.block.*.layer.0.SelfAttention.v"}},
      {"%.*.self_attention.output", {"%.block.*.layer.0.SelfAttention.o"}},
      {"%.*.self_attention_norm", {"%.block.*.layer.0.layer_norm"}},
      {"%.*.cross_attention.query", {"%.block.*.layer.1.EncDecAttention.q"}},
      {"%.*.cross_attention.key", {"%.block.*.layer.1.EncDecAttention.k"}},
      {"%.*.cross_attention.value", {"%.block.*.layer.1.EncDecAttention.v"}},
      {"%.*.cross_attention.output", {"%.block.*.layer.1.EncDecAttention.o"}},
      {"%.*.cross_attention_norm", {"%.block.*.layer.1.layer_norm"}},
      {"encoder.*.feed_forward.project", {"encoder.block.*.layer.1.DenseReluDense.wo"}},
      {"decoder.*.feed_forward.project", {"decoder.block.*.layer.2.DenseReluDense.wo"}},
      {"encoder.*.feed_forward.gate", {"encoder.block.*.layer.1.DenseReluDense.wi_0"}},
      {"decoder.*.feed_forward.gate", {"decoder.block.*.layer.2.DenseReluDense.wi_0"}},
      // The first name belongs to gated networks, the second one to plain networks.
      {"encoder.*.feed_forward.expand",
       {"encoder.block.*.layer.1.DenseReluDense.wi_1", "encoder.block.*.layer.1.DenseReluDense.wi"}},
      {"decoder.*.feed_forward.expand",
       {"decoder.block.*.layer.2.DenseReluDense.wi_1", "decoder.block.*.layer.2.DenseReluDense.wi"}},
      {"encoder.*.feed_forward_norm", {"encoder.block.*.layer.1.layer_norm"}},
      {"decoder.*.feed_forward_norm", {"decoder.block.*.layer.2.layer_norm"}},
  };
  const std::string prefix = "transformer.";  // only classifiers have this prefix
  for (NamePattern& row : table) {
    for (StoredName& stored : row.stored) stored.name.insert(0, prefix);
  }
  table.push_back({"head.dense", {"classification_head.dense"}});
  table.push_back({"head.output", {"classification_head.out_proj", "classifier"}});
  return without_missing_prefix(prefix, weights, names_by_table(std::move(table)));
}

}  // namespace

std::vector<Family> t5_families() {
  std::vector<Family> families;
  for (const Version& version : kVersions) {
    families.push_back({version.model_type,
                        [&version](const JsonObject& config, const WeightStore& weights) {
                          return ModelDescription{read_t5_config(config, version), t5_weight_names(version, weights)};
                        },
                        {"shared.weight", "EncDecAttention.relative_attention_bias"}});
  }
  return families;
}

}  // namespace encdec
