// BERT (Devlin et al. 2019), RoBERTa (Liu et al. 2019) and XLM-R (Conneau et al. 2020).
#include <fmt/format.h>

#include <utility>

#include "encdec/engine/error.h"
#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/families.h"
#include "encdec/models/families/name_table.h"

namespace encdec {
namespace {

TransformerConfig read_config(const JsonObject& json, std::string_view model_type, Dim vocabulary) {
  const ConfigReader config(json);
  if (const auto kind = json.string("position_embedding_type"); kind && *kind != "absolute") {
    throw ConfigError(fmt::format("{}: position_embedding_type '{}' is not supported, expected 'absolute'", json.file(),
                                  printable(*kind)));
  }
  TransformerConfig result;
  result.model_type = model_type;
  result.architecture = Architecture::encoder_only;
  result.model_dim = config.width("hidden_size", 768);
  result.encoder.vocabulary = config.vocabulary("vocab_size", vocabulary);
  result.encoder.layers = config.layers("num_hidden_layers", 12);
  result.encoder.heads = static_cast<int>(config.width("num_attention_heads", 12));
  result.encoder.hidden_dim = config.width("intermediate_size", 3072);
  result.encoder.positions = {.kind = PositionOptions::Kind::learned,
                              .positions = config.width("max_position_embeddings", 512)};
  result.encoder.embedding_norm = EmbeddingNorm::after_positions;
  config.check_heads(result.encoder, result.model_dim, "num_attention_heads");
  result.activation = config.activation("hidden_act", "gelu");
  result.norm_epsilon = config.epsilon("layer_norm_eps", 1e-12);
  result.token_types = config.width("type_vocab_size", 2);
  result.pad_token = config.token("pad_token_id", result.encoder.vocabulary);
  return result;
}

TransformerConfig read_bert(const JsonObject& json) {
  return read_config(json, "bert", 30522);
}

// Positions are numbered as in fairseq: the table has rows for the pad and those before it.
TransformerConfig read_roberta_like(const JsonObject& json, std::string_view model_type) {
  TransformerConfig result = read_config(json, model_type, 50265);
  PositionOptions& positions = result.encoder.positions;
  positions.pad_token = result.pad_token.value_or(1);
  positions.offset = Dim{*positions.pad_token} + 1;
  if (positions.positions <= positions.offset) {
    throw ConfigError(fmt::format("{}: max_position_embeddings {}, expected more than pad_token_id + 1, {}",
                                  json.file(), positions.positions, positions.offset));
  }
  positions.positions -= positions.offset;
  return result;
}

TransformerConfig read_roberta(const JsonObject& json) {
  return read_roberta_like(json, "roberta");
}

TransformerConfig read_xlm_roberta(const JsonObject& json) {
  return read_roberta_like(json, "xlm-roberta");
}

WeightNames names_with_prefix(const std::string& prefix, const WeightStore& weights) {
  std::vector<NamePattern> table = {
      {"encoder.embedding", {prefix + "embeddings.word_embeddings"}},
      {"encoder.positional_encoding", {prefix + "embeddings.position_embeddings"}},
      {"encoder.token_type_embedding", {prefix + "embeddings.token_type_embeddings"}},
      {"encoder.embedding_norm", {prefix + "embeddings.LayerNorm"}},
      {"encoder.*.self_attention.query", {prefix + "encoder.layer.*.attention.self.query"}},
      {"encoder.*.self_attention.key", {prefix + "encoder.layer.*.attention.self.key"}},
      {"encoder.*.self_attention.value", {prefix + "encoder.layer.*.attention.self.value"}},
      {"encoder.*.self_attention.output", {prefix + "encoder.layer.*.attention.output.dense"}},
      {"encoder.*.self_attention_norm", {prefix + "encoder.layer.*.attention.output.LayerNorm"}},
      {"encoder.*.feed_forward.expand", {prefix + "encoder.layer.*.intermediate.dense"}},
      {"encoder.*.feed_forward.project", {prefix + "encoder.layer.*.output.dense"}},
      {"encoder.*.feed_forward_norm", {prefix + "encoder.layer.*.output.LayerNorm"}},
  };
  return with_gamma_and_beta(without_missing_prefix(prefix, weights, names_by_table(std::move(table))));
}

WeightNames bert_names(const JsonObject&, const WeightStore& weights) {
  return names_with_prefix("bert.", weights);
}

WeightNames roberta_names(const JsonObject&, const WeightStore& weights) {
  return names_with_prefix("roberta.", weights);
}

}  // namespace

const Family kBert{"bert", read_bert, bert_names};
const Family kRoberta{"roberta", read_roberta, roberta_names};
const Family kXlmRoberta{"xlm-roberta", read_xlm_roberta, roberta_names};

}  // namespace encdec
