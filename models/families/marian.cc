// Marian (Junczys-Dowmunt et al. 2018) as transformers stores it: OPUS-MT's models.
#include "encdec/models/families/bart_lineage.h"
#include "encdec/models/families/families.h"

namespace encdec {
namespace {

constexpr BartLineage kMarianLineage{
    .model_type = "marian",
    .separate_vocabularies = true,
    .vocabulary = 58101,
    .pad_token = 58100,
};

TransformerConfig read_marian_config(const JsonObject& config) {
  return read_bart_config(config, kMarianLineage);
}

WeightNames weight_names(const JsonObject& config, const WeightStore& weights) {
  const bool shared = config.boolean("share_encoder_decoder_embeddings").value_or(true);
  return bart_weight_names(config, weights, shared ? SharedEmbeddings::yes : SharedEmbeddings::no);
}

}  // namespace

const Family kMarian{kMarianLineage.model_type, read_marian_config, weight_names};

}  // namespace encdec
