// BART (Lewis et al. 2020), and PLBart (Ahmad et al. 2021), its twin for programs.
#include "encdec/models/families/bart_lineage.h"
#include "encdec/models/families/families.h"

namespace encdec {
namespace {

using Kind = PositionOptions::Kind;

constexpr BartLineage kBartLineage{
    .model_type = "bart",
    .encoder_embedding_norm = EmbeddingNorm::after_positions,
    .decoder_embedding_norm = EmbeddingNorm::after_positions,
    .positions = {.kind = Kind::learned, .offset = 2},
};

TransformerConfig read_bart_config(const JsonObject& config) {
  return read_bart_config(config, kBartLineage);
}

constexpr BartLineage kPLBartLineage{
    .model_type = "plbart",
    .encoder_embedding_norm = EmbeddingNorm::after_positions,
    .decoder_embedding_norm = EmbeddingNorm::after_positions,
    .positions = {.kind = Kind::learned, .offset = 2},
    .scale_embedding = true,
    .target_language = TargetLanguage::start_token,
    .model_dim = 768,
    .encoder_layers = 6,
    .decoder_layers = 6,
    .heads = 12,
    .hidden_dim = 3072,
    .vocabulary = 50005,
};

TransformerConfig read_plbart_config(const JsonObject& config) {
  return read_bart_config(config, kPLBartLineage);
}

WeightNames weight_names(const JsonObject& config, const WeightStore& weights) {
  return bart_weight_names(config, weights);
}

}  // namespace

const Family kBart{kBartLineage.model_type, read_bart_config, weight_names};
const Family kPLBart{kPLBartLineage.model_type, read_plbart_config, weight_names};

}  // namespace encdec
