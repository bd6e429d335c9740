// BART (Lewis et al. 2020) and related models in transformers.
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/families.h"
#include "encdec/models/families/head.h"
#include "encdec/models/families/name_table.h"

namespace encdec {
namespace {

// The settings in which a family differs from the other families. All other settings in config.json, and all tensor
// names, are the same. Numbers are the defaults for missing keys, as in transformers.
struct BartLineage {
  std::string_view model_type;
  NormOrder norm_order = NormOrder::last;
  EmbeddingNorm encoder_embedding_norm = EmbeddingNorm::none;
  EmbeddingNorm decoder_embedding_norm = EmbeddingNorm::none;
  PositionOptions positions = {};    // positions.count is read from config.json
  bool positions_skip_pads = false;  // pad tokens get no position; positions.pad_token is read from config.json
  std::string_view activation = "gelu";
  bool scale_embedding = false;
  bool scale_encoder_only = false;  // restricts scale_embedding to the encoder
  TargetLanguage target_language = TargetLanguage::none;
  // If true, equal start and end tokens in config.json indicate mBART-50, whose decoder reads the language token after
  // the start token.
  bool end_before_language = false;
  // If true, config.json may set decoder_vocab_size and share_encoder_decoder_embeddings.
  bool separate_vocabularies = false;
  Dim model_dim = 1024;
  int encoder_layers = 12;
  int decoder_layers = 12;
  Dim heads = 16;
  Dim hidden_dim = 4096;
  Dim vocabulary = 50265;
  Dim max_positions = 1024;
  std::int32_t pad_token = 1;
};

constexpr PositionOptions kLearned = {.kind = PositionOptions::Kind::learned};
constexpr PositionOptions kLearnedFrom2 = {.kind = PositionOptions::Kind::learned, .offset = 2};

constexpr std::array kLineages = {
    BartLineage{.model_type = "bart",
                .encoder_embedding_norm = EmbeddingNorm::after_positions,
                .decoder_embedding_norm = EmbeddingNorm::after_positions,
                .positions = kLearnedFrom2},
    // Blenderbot (Roller et al. 2021): first the large models, then the small model.
    BartLineage{.model_type = "blenderbot",
                .norm_order = NormOrder::first,
                .positions = kLearned,
                .model_dim = 2560,
                .encoder_layers = 2,
                .decoder_layers = 24,
                .heads = 32,
                .hidden_dim = 10240,
                .vocabulary = 8008,
                .max_positions = 128,
                .pad_token = 0},
    BartLineage{.model_type = "blenderbot-small",
                .encoder_embedding_norm = EmbeddingNorm::after_positions,
                .decoder_embedding_norm = EmbeddingNorm::before_positions,
                .positions = kLearned,
                .scale_encoder_only = true,
                .model_dim = 512,
                .encoder_layers = 8,
                .decoder_layers = 8,
                .hidden_dim = 2048,
                .max_positions = 512,
                .pad_token = 0},
    // M2M100 (Fan et al. 2021) and NLLB-200 (NLLB Team 2022), without mixture of experts.
    BartLineage{.model_type = "m2m_100",
                .norm_order = NormOrder::first,
                .positions = {.layout = SinusoidLayout::timing_signal},
                .positions_skip_pads = true,
                .activation = "relu",
                .scale_embedding = true,
                .target_language = TargetLanguage::first_token,
                .vocabulary = 128112},
    // Marian (Junczys-Dowmunt et al. 2018) as transformers stores it: the OPUS-MT models.
    BartLineage{.model_type = "marian", .separate_vocabularies = true, .vocabulary = 58101, .pad_token = 58100},
    // mBART (Liu et al. 2020) starts decoding with the language token. mBART-50 (Tang et al. 2020) starts with the end
    // token, followed by the language token.
    BartLineage{.model_type = "mbart",
                .norm_order = NormOrder::first,
                .encoder_embedding_norm = EmbeddingNorm::after_positions,
                .decoder_embedding_norm = EmbeddingNorm::after_positions,
                .positions = kLearnedFrom2,
                .target_language = TargetLanguage::start_token,
                .end_before_language = true},
    // Pegasus (Zhang et al. 2020).
    BartLineage{.model_type = "pegasus", .norm_order = NormOrder::first, .pad_token = 0},
    // PLBart (Ahmad et al. 2021): BART for programming languages.
    BartLineage{.model_type = "plbart",
                .encoder_embedding_norm = EmbeddingNorm::after_positions,
                .decoder_embedding_norm = EmbeddingNorm::after_positions,
                .positions = kLearnedFrom2,
                .scale_embedding = true,
                .target_language = TargetLanguage::start_token,
                .model_dim = 768,
                .encoder_layers = 6,
                .decoder_layers = 6,
                .heads = 12,
                .hidden_dim = 3072,
                .vocabulary = 50005},
};

StackConfig read_stack(const ConfigReader& config, const BartLineage& lineage, const std::string& name, int layers) {
  StackConfig stack;
  stack.layers = config.layers(name + "_layers", layers);
  stack.model_dim = config.width("d_model", lineage.model_dim);
  stack.attention.heads = config.heads(name + "_attention_heads", lineage.heads, stack.model_dim);
  stack.hidden_dim = config.width(name + "_ffn_dim", lineage.hidden_dim);
  stack.activation = config.activation("activation_function", lineage.activation);
  stack.norm_order = lineage.norm_order;
  stack.vocabulary = config.vocabulary("vocab_size", lineage.vocabulary);
  stack.positions = lineage.positions;
  stack.positions.count = config.width("max_position_embeddings", lineage.max_positions);
  if (lineage.positions_skip_pads) {
    const std::int32_t pad = config.token("pad_token_id", stack.vocabulary).value_or(lineage.pad_token);
    stack.positions.pad_token = pad;
    stack.positions.offset = Dim{pad} + 1;
  }
  return stack;
}

TransformerConfig read_bart_config(const JsonObject& json, const BartLineage& lineage) {
  const ConfigReader config(json);
  TransformerConfig result;
  result.encoder = read_stack(config, lineage, "encoder", lineage.encoder_layers);
  result.encoder.embedding_norm = lineage.encoder_embedding_norm;
  result.decoder = read_stack(config, lineage, "decoder", lineage.decoder_layers);
  if (lineage.separate_vocabularies) {
    result.decoder.vocabulary = config.vocabulary("decoder_vocab_size", result.encoder.vocabulary);
  }
  result.decoder.embedding_norm = lineage.decoder_embedding_norm;
  if (config.flag("scale_embedding", lineage.scale_embedding)) {
    const float scale = std::sqrt(static_cast<float>(result.model_dim()));
    result.encoder.embedding_scale = scale;
    if (!lineage.scale_encoder_only) result.decoder.embedding_scale = scale;
  }
  result.target_language = lineage.target_language;
  result.pad_token = config.pad_token(result.decoder.vocabulary);
  result.decoder_start_token = config.token("decoder_start_token_id", result.decoder.vocabulary);
  constexpr std::int32_t kEnd = 2;
  // Detect mBART-50; see BartLineage::end_before_language.
  const auto ends = json.integers("eos_token_id");
  if (lineage.end_before_language && result.decoder_start_token == (ends.empty() ? kEnd : ends.front())) {
    result.target_language = TargetLanguage::first_token;
  }
  // In multilingual families, a classifier's decoder starts with the text's last token.
  std::optional<std::int32_t> start;
  if (lineage.target_language == TargetLanguage::none) start = result.decoder_start_token.value_or(kEnd);
  result.head = read_decoder_head(json, result.decoder.vocabulary, kEnd, start);
  if (result.head.kind == HeadKind::tokens) {
    refuse<ConfigError>(json.file(), "a token classifier is not supported here, expected a text classifier");
  }
  return result;
}

// Both embeddings and the output projection may be one tensor, which the checkpoint stores once, as `model.shared` or
// under the name of any of these layers. A tensor under a layer's own name has priority. If tie_word_embeddings is
// false, the two embeddings may still be one tensor, but the projection is a separate tensor.
WeightNames bart_weight_names(const JsonObject& config, const WeightStore& weights, const BartLineage& lineage) {
  const bool shared =
      !lineage.separate_vocabularies || config.boolean("share_encoder_decoder_embeddings").value_or(true);
  const StoredName common = "model.shared";
  std::vector<StoredName> encoder{"model.encoder.embed_tokens"}, decoder{"model.decoder.embed_tokens"};
  std::vector<StoredName> output{"lm_head"};
  if (shared) {
    encoder.insert(encoder.end(), {common, decoder[0]});
    decoder.insert(decoder.end(), {common, encoder[0]});
  }
  if (config.boolean("tie_word_embeddings").value_or(true)) {
    output.insert(output.end(), decoder.begin(), decoder.end());
    decoder.push_back(output[0]);
    if (shared) encoder.push_back(output[0]);
  }
  return without_missing_prefix("model.", weights,
                                names_by_table(with_bart_layers({
                                    {"head.dense", {"classification_head.dense"}},
                                    {"head.output", {"classification_head.out_proj"}},
                                    {"encoder.embedding", std::move(encoder)},
                                    {"decoder.embedding", std::move(decoder)},
                                    {"output_projection.bias", {"final_logits_bias"}},
                                    {"output_projection", std::move(output)},
                                    {"%.embedding_norm", {"model.%.layernorm_embedding"}},
                                })));
}

}  // namespace

std::vector<Family> bart_families() {
  std::vector<Family> families;
  for (const BartLineage& lineage : kLineages) {
    families.push_back(
        {lineage.model_type,
         [&lineage](const JsonObject& config, const WeightStore& weights) {
           return ModelDescription{read_bart_config(config, lineage), bart_weight_names(config, weights, lineage)};
         },
         {"shared.weight"}});
  }
  return families;
}

}  // namespace encdec
