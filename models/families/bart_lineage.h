#pragma once

#include <string_view>

#include "encdec/engine/weights.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/config.h"
#include "encdec/models/families/families.h"

namespace encdec {

// What the descendants of BART (Lewis et al. 2020) in transformers differ in: the rest of their config.json and all
// names of their tensors are the same. Numbers are the defaults for keys that a config.json lacks.
struct BartLineage {
  std::string_view model_type;
  NormOrder norm_order = NormOrder::last;
  EmbeddingNorm encoder_embedding_norm = EmbeddingNorm::none;
  EmbeddingNorm decoder_embedding_norm = EmbeddingNorm::none;
  PositionOptions positions = {};    // `positions` itself is read from config.json
  bool positions_skip_pads = false;  // positions.pad_token is then read from config.json
  std::string_view activation = "gelu";
  bool scale_embedding = false;
  bool scale_encoder_only = false;  // if scale_embedding is set
  TargetLanguage target_language = TargetLanguage::none;
  bool separate_vocabularies = false;  // config.json may have decoder_vocab_size, and say that
                                       // encoder and decoder do not share their embeddings

  Dim model_dim = 1024;
  int encoder_layers = 12;
  int decoder_layers = 12;
  Dim heads = 16;
  Dim hidden_dim = 4096;
  Dim vocabulary = 50265;
  Dim max_positions = 1024;
  std::int32_t pad_token = 1;
};

TransformerConfig read_bart_config(const JsonObject& config, const BartLineage& lineage);

WeightNames bart_weight_names(const JsonObject& config, const WeightStore& weights, const BartLineage& lineage);

// The family of a lineage that the rows above describe whole.
template <const BartLineage& kLineage>
constexpr Family bart_family() {
  return {kLineage.model_type, [](const JsonObject& config) { return read_bart_config(config, kLineage); },
          [](const JsonObject& config, const WeightStore& weights) {
            return bart_weight_names(config, weights, kLineage);
          }};
}

}  // namespace encdec
