// BART (Lewis et al. 2020), and PLBart (Ahmad et al. 2021), its twin for programs.
#include "encdec/models/families/bart_lineage.h"

namespace encdec {
namespace {

using Kind = PositionOptions::Kind;

constexpr BartLineage kBartLineage{
    .model_type = "bart",
    .encoder_embedding_norm = EmbeddingNorm::after_positions,
    .decoder_embedding_norm = EmbeddingNorm::after_positions,
    .positions = {.kind = Kind::learned, .offset = 2},
};

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

}  // namespace

const Family kBart = bart_family<kBartLineage>();
const Family kPLBart = bart_family<kPLBartLineage>();

}  // namespace encdec
