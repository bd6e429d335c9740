// DeBERTa-v2 and v3 (He et al. 2021, 2023).
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/families.h"
#include "encdec/models/families/head.h"
#include "encdec/models/families/name_table.h"

namespace encdec {
namespace {

// Returns pos_att_type, which is a list or has names between "|".
std::vector<std::string> position_terms(const JsonObject& json) {
  std::vector<std::string> terms;
  for (const std::string& names : json.strings("pos_att_type")) {
    for (std::size_t begin = 0, end = 0; end != names.npos; begin = end + 1) {
      end = names.find('|', begin);
      terms.push_back(names.substr(begin, end - begin));
    }
  }
  for (const std::string& term : terms) {
    if (term != "c2p" && term != "p2c" && !term.empty()) {
      refuse<ConfigError>(json.file(), "pos_att_type '{}' is not supported, expected c2p or p2c", printable(term));
    }
  }
  return terms;
}

TransformerConfig read_deberta(const JsonObject& json) {
  const ConfigReader config(json);
  TransformerConfig result;
  result.architecture = Architecture::encoder_only;
  result.model_dim = config.width("hidden_size", 1536);
  StackConfig& stack = result.encoder;
  stack.vocabulary = config.vocabulary("vocab_size", 128100);
  stack.layers = config.layers("num_hidden_layers", 24);
  stack.heads = static_cast<int>(config.width("num_attention_heads", 24));
  stack.hidden_dim = config.width("intermediate_size", 6144);
  stack.embedding_norm = EmbeddingNorm::after_positions;
  config.check_heads(stack, result.model_dim, "num_attention_heads");
  const Dim positions = config.width("max_position_embeddings", 512);
  stack.positions.kind = PositionOptions::Kind::none;
  if (config.flag("position_biased_input", true)) {
    stack.positions = {.kind = PositionOptions::Kind::learned, .count = positions};
  }
  result.activation = config.activation("hidden_act", "gelu");
  result.norm_epsilon = config.epsilon("layer_norm_eps", 1e-7);
  result.token_types = json.integer("type_vocab_size", {0, 1024}).value_or(0);
  result.pad_token = config.token("pad_token_id", stack.vocabulary);
  result.head = read_classifier_head(json, config.activation("pooler_hidden_act", "gelu"));

  const std::vector<std::string> position_names = position_terms(json);
  const bool scores_queries = std::ranges::count(position_names, "c2p") > 0;
  const bool scores_keys = std::ranges::count(position_names, "p2c") > 0;
  const Dim terms = 1 + (scores_queries ? 1 : 0) + (scores_keys ? 1 : 0);
  result.score_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(result.model_dim / stack.heads * terms)));
  if (config.flag("relative_attention", false)) {
    const auto buckets = static_cast<int>(json.integer("position_buckets", {-1, 1 << 16}).value_or(-1));
    auto distance = static_cast<int>(json.integer("max_relative_positions", {-1, 1 << 16}).value_or(-1));
    if (distance < 1) distance = static_cast<int>(positions);
    DisentangledOptions& options = stack.disentangled_positions;
    options = {.span = buckets > 0 ? buckets : distance,
               .max_distance = buckets > 0 ? distance : 0,
               .scores_keys = scores_keys,
               .scores_queries = scores_queries};
    if (json.string("norm_rel_ebd").value_or("none").find("layer_norm") != std::string::npos) {
      options.norm_epsilon = result.norm_epsilon;
    }
  }
  if (const auto kernel = json.integer("conv_kernel_size", {0, 255}).value_or(0); kernel > 0) {
    if (kernel % 2 == 0) refuse<ConfigError>(json.file(), "conv_kernel_size {}, expected an odd number", kernel);
    stack.convolution = {.kernel = kernel, .activation = config.activation("conv_act", "tanh")};
  }
  json.expect("conv_groups", 1);
  json.expect("embedding_size", result.model_dim);
  return result;
}

ModelDescription describe_deberta(const JsonObject& json, const WeightStore& weights) {
  const std::string prefix = "deberta.", layer = prefix + "encoder.layer.*.", attention = layer + "attention.self.";
  const bool shares = ConfigReader(json).flag("share_att_key", false);
  WeightNames names = names_by_table({
      {"head.dense", {"pooler.dense"}},
      {"head.output", {"classifier"}},
      {"encoder.embedding", {prefix + "embeddings.word_embeddings"}},
      {"encoder.positional_encoding", {prefix + "embeddings.position_embeddings"}},
      {"encoder.token_type_embedding", {prefix + "embeddings.token_type_embeddings"}},
      {"encoder.embedding_norm", {prefix + "embeddings.LayerNorm"}},
      {"encoder.convolution", {prefix + "encoder.conv.conv"}},
      {"encoder.convolution_norm", {prefix + "encoder.conv.LayerNorm"}},
      {"encoder.*.self_attention.query", {attention + "query_proj"}},
      {"encoder.*.self_attention.key", {attention + "key_proj"}},
      {"encoder.*.self_attention.value", {attention + "value_proj"}},
      {"encoder.*.self_attention.distance_embedding", {prefix + "encoder.rel_embeddings"}},
      {"encoder.*.self_attention.distance_embedding_norm", {prefix + "encoder.LayerNorm"}},
      {"encoder.*.self_attention.distance_key", {attention + (shares ? "key_proj" : "pos_key_proj")}},
      {"encoder.*.self_attention.distance_query", {attention + (shares ? "query_proj" : "pos_query_proj")}},
      {"encoder.*.self_attention.output", {layer + "attention.output.dense"}},
      {"encoder.*.self_attention_norm", {layer + "attention.output.LayerNorm"}},
      {"encoder.*.feed_forward.expand", {layer + "intermediate.dense"}},
      {"encoder.*.feed_forward.project", {layer + "output.dense"}},
      {"encoder.*.feed_forward_norm", {layer + "output.LayerNorm"}},
  });
  return {read_deberta(json), with_gamma_and_beta(without_missing_prefix(prefix, weights, std::move(names)))};
}

}  // namespace

std::vector<Family> deberta_families() {
  return {{"deberta-v2", describe_deberta}};
}

}  // namespace encdec
