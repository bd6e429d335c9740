// Blenderbot (Roller et al. 2021): the large ones, and the small one, which is built otherwise.
#include "encdec/models/families/bart_lineage.h"

namespace encdec {
namespace {

using Kind = PositionOptions::Kind;

constexpr BartLineage kBlenderbotLineage{
    .model_type = "blenderbot",
    .norm_order = NormOrder::first,
    .positions = {.kind = Kind::learned},
    .model_dim = 2560,
    .encoder_layers = 2,
    .decoder_layers = 24,
    .heads = 32,
    .hidden_dim = 10240,
    .vocabulary = 8008,
    .max_positions = 128,
    .pad_token = 0,
};

constexpr BartLineage kBlenderbotSmallLineage{
    .model_type = "blenderbot-small",
    .encoder_embedding_norm = EmbeddingNorm::after_positions,
    .decoder_embedding_norm = EmbeddingNorm::before_positions,
    .positions = {.kind = Kind::learned},
    .scale_encoder_only = true,
    .model_dim = 512,
    .encoder_layers = 8,
    .decoder_layers = 8,
    .hidden_dim = 2048,
    .max_positions = 512,
    .pad_token = 0,
};

}  // namespace

const Family kBlenderbot = bart_family<kBlenderbotLineage>();
const Family kBlenderbotSmall = bart_family<kBlenderbotSmallLineage>();

}  // namespace encdec
