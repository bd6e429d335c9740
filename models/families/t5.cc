// T5 (Raffel et al. 2020) in its versions 1.0, 1.1 (FLAN-T5, ByT5: Xue et al. 2022), mT5 (Xue et al. 2021) and UMT5
// (Chung et al. 2023).
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "encdec/engine/error.h"
#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/families.h"
#include "encdec/models/families/name_table.h"

namespace encdec {
namespace {

constexpr Dim kMaxDistance = 1 << 16;

// "relu", "gated-gelu" or "gated-silu". By "gated-gelu" the checkpoints mean the tanh approximation.
void read_feed_forward(const ConfigReader& config, std::string_view missing, TransformerConfig& result) {
  std::string name = config.json().string("feed_forward_proj").value_or(std::string(missing));
  if (name == "gated-gelu") name = "gated-gelu_new";
  if (name.starts_with("gated-")) {
    result.feed_forward = FeedForwardKind::gated;
    name.erase(0, std::string_view("gated-").size());
  }
  const auto activation = activation_named(name);
  if (!activation) {
    throw ConfigError(
        fmt::format("{}: feed_forward_proj '{}' is not supported, expected one of {}, or one after 'gated-'",
                    config.json().file(), printable(name), activation_names()));
  }
  result.activation = *activation;
}

RelativePositions read_relative_positions(const ConfigReader& config, RelativePositions::Direction direction) {
  RelativePositions positions;
  positions.buckets = static_cast<int>(config.width("relative_attention_num_buckets", 32));
  positions.max_distance =
      static_cast<int>(config.json().integer("relative_attention_max_distance", {1, kMaxDistance}).value_or(128));
  positions.direction = direction;
  try {
    positions.check();
  } catch (const ShapeError& error) {
    throw ConfigError(fmt::format("{}: {}", config.json().file(), error.what()));
  }
  return positions;
}

struct Version {
  std::string_view model_type;
  std::string_view feed_forward;
  int layers;
  Dim heads;
  Dim hidden_dim;
  Dim vocabulary;
};

TransformerConfig read_config(const JsonObject& json, const Version& version) {
  const ConfigReader config(json);
  TransformerConfig result;
  result.model_type = version.model_type;
  result.model_dim = config.width("d_model", 512);
  result.head_dim = config.width("d_kv", 64);
  StackConfig stack;
  stack.vocabulary = config.vocabulary("vocab_size", version.vocabulary);
  stack.layers = config.layers("num_layers", version.layers);
  stack.heads = static_cast<int>(config.width("num_heads", version.heads));
  stack.hidden_dim = config.width("d_ff", version.hidden_dim);
  stack.positions.kind = PositionOptions::Kind::none;
  result.encoder = result.decoder = stack;
  result.encoder.relative_positions = read_relative_positions(config, RelativePositions::Direction::both);
  result.decoder.relative_positions = read_relative_positions(config, RelativePositions::Direction::backward);
  result.decoder.layers = config.layers("num_decoder_layers", stack.layers);
  read_feed_forward(config, version.feed_forward, result);
  result.bias = Bias::none;
  result.norm_order = NormOrder::first;
  result.norm = NormKind::rms;
  result.norm_epsilon = config.epsilon("layer_norm_epsilon", 1e-6);
  result.score_scale = 1.0f;  // the initial weights make up for it
  result.output_bias = Bias::none;
  result.pad_token = config.token("pad_token_id", stack.vocabulary);
  result.decoder_start_token = config.token("decoder_start_token_id", stack.vocabulary).value_or(0);
  return result;
}

// Where embedding and output are one matrix, the logits are scaled down.
void scale_logits(TransformerConfig& config) {
  config.logits_scale = 1.0f / std::sqrt(static_cast<float>(config.model_dim));
}

TransformerConfig read_t5(const JsonObject& json) {
  TransformerConfig config = read_config(json, {"t5", "relu", 6, 8, 2048, 32128});
  const bool tied = json.boolean("tie_word_embeddings").value_or(true);
  if (json.boolean("scale_decoder_outputs").value_or(tied)) scale_logits(config);
  return config;
}

// transformers 5 never scales the logits of mT5, and always those of UMT5.
TransformerConfig read_mt5(const JsonObject& json) {
  return read_config(json, {"mt5", "gated-gelu", 8, 6, 1024, 250112});
}

TransformerConfig read_umt5(const JsonObject& json) {
  TransformerConfig config = read_config(json, {"umt5", "gated-gelu", 8, 6, 1024, 250112});
  scale_logits(config);
  return config;
}

std::vector<NamePattern> name_table() {
  const std::string encoder = "encoder.embed_tokens", decoder = "decoder.embed_tokens", output = "lm_head";
  std::vector<NamePattern> table = {
      {"encoder.embedding", {encoder, "shared", decoder, output}},
      {"decoder.embedding", {decoder, "shared", encoder, output}},
      {"output_projection", {output, "shared", decoder, encoder}},
      {"encoder.norm", {"encoder.final_layer_norm"}},
      {"decoder.norm", {"decoder.final_layer_norm"}},
  };
  const auto add = [&](std::string_view canonical, std::string_view stored) {
    table.push_back({std::string(canonical),
                     {fmt::format("{}.block.*.layer.{}", canonical.substr(0, canonical.find('.')), stored)}});
  };
  add("encoder.*.self_attention.query", "0.SelfAttention.q");
  add("encoder.*.self_attention.key", "0.SelfAttention.k");
  add("encoder.*.self_attention.value", "0.SelfAttention.v");
  add("encoder.*.self_attention.output", "0.SelfAttention.o");
  add("encoder.*.self_attention_norm", "0.layer_norm");
  add("encoder.*.feed_forward.project", "1.DenseReluDense.wo");
  add("encoder.*.feed_forward.gate", "1.DenseReluDense.wi_0");
  add("encoder.*.feed_forward_norm", "1.layer_norm");
  add("decoder.*.self_attention.query", "0.SelfAttention.q");
  add("decoder.*.self_attention.key", "0.SelfAttention.k");
  add("decoder.*.self_attention.value", "0.SelfAttention.v");
  add("decoder.*.self_attention.output", "0.SelfAttention.o");
  add("decoder.*.self_attention_norm", "0.layer_norm");
  add("decoder.*.cross_attention.query", "1.EncDecAttention.q");
  add("decoder.*.cross_attention.key", "1.EncDecAttention.k");
  add("decoder.*.cross_attention.value", "1.EncDecAttention.v");
  add("decoder.*.cross_attention.output", "1.EncDecAttention.o");
  add("decoder.*.cross_attention_norm", "1.layer_norm");
  add("decoder.*.feed_forward.project", "2.DenseReluDense.wo");
  add("decoder.*.feed_forward.gate", "2.DenseReluDense.wi_0");
  add("decoder.*.feed_forward_norm", "2.layer_norm");
  // Gated, or plain.
  table.push_back({"encoder.*.feed_forward.expand",
                   {"encoder.block.*.layer.1.DenseReluDense.wi_1", "encoder.block.*.layer.1.DenseReluDense.wi"}});
  table.push_back({"decoder.*.feed_forward.expand",
                   {"decoder.block.*.layer.2.DenseReluDense.wi_1", "decoder.block.*.layer.2.DenseReluDense.wi"}});
  return table;
}

// The first block's biases are those of all blocks.
WeightNames t5_names(const JsonObject&, const WeightStore&) {
  auto table = name_table();
  table.push_back({"encoder.*.self_attention.relative_position_bias",
                   {"encoder.block.0.layer.0.SelfAttention.relative_attention_bias"}});
  table.push_back({"decoder.*.self_attention.relative_position_bias",
                   {"decoder.block.0.layer.0.SelfAttention.relative_attention_bias"}});
  return names_by_table(std::move(table));
}

WeightNames umt5_names(const JsonObject&, const WeightStore&) {
  auto table = name_table();
  table.push_back({"encoder.*.self_attention.relative_position_bias",
                   {"encoder.block.*.layer.0.SelfAttention.relative_attention_bias"}});
  table.push_back({"decoder.*.self_attention.relative_position_bias",
                   {"decoder.block.*.layer.0.SelfAttention.relative_attention_bias"}});
  return names_by_table(std::move(table));
}

}  // namespace

const Family kT5{"t5", read_t5, t5_names};
const Family kMT5{"mt5", read_mt5, t5_names};
const Family kUMT5{"umt5", read_umt5, umt5_names};

}  // namespace encdec
