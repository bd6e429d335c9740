// mBART (Liu et al. 2020) and mBART-50 (Tang et al. 2020).
#include "encdec/models/families/bart_lineage.h"

namespace encdec {
namespace {

using Kind = PositionOptions::Kind;

constexpr BartLineage kMBartLineage{
    .model_type = "mbart",
    .norm_order = NormOrder::first,
    .encoder_embedding_norm = EmbeddingNorm::after_positions,
    .decoder_embedding_norm = EmbeddingNorm::after_positions,
    .positions = {.kind = Kind::learned, .offset = 2},
};

TransformerConfig read_mbart_config(const JsonObject& config) {
  TransformerConfig result = read_bart_config(config, kMBartLineage);
  // mBART-50 decodes from the end token, then the language; mBART from the language.
  constexpr std::int64_t kEnd = 2;
  const bool starts_with_end = result.decoder_start_token == config.integer("eos_token_id").value_or(kEnd);
  result.target_language = starts_with_end ? TargetLanguage::first_token : TargetLanguage::start_token;
  return result;
}

}  // namespace

const Family kMBart{kMBartLineage.model_type, read_mbart_config, bart_family<kMBartLineage>().weight_names};

}  // namespace encdec
