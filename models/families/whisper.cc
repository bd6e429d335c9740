// Whisper (Radford et al. 2023) as stored by transformers.
#include "encdec/models/families/whisper.h"

#include <cmath>
#include <utility>

#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/families.h"
#include "encdec/models/families/name_table.h"

namespace encdec {
namespace {

TransformerConfig read_whisper(const JsonObject& json) {
  const ConfigReader config(json);
  const WhisperSizes tiny;
  const WhisperSizes sizes{
      .mel_bands = config.width("num_mel_bins", tiny.mel_bands),
      .model_dim = config.width("d_model", tiny.model_dim),
      .vocabulary = config.vocabulary("vocab_size", tiny.vocabulary + 1),
      .encoder_layers = config.layers("encoder_layers", tiny.encoder_layers),
      .encoder_heads = config.width("encoder_attention_heads", tiny.encoder_heads),
      .encoder_hidden_dim = config.width("encoder_ffn_dim", tiny.encoder_hidden_dim),
      .encoder_positions = config.width("max_source_positions", tiny.encoder_positions),
      .decoder_layers = config.layers("decoder_layers", tiny.decoder_layers),
      .decoder_heads = config.width("decoder_attention_heads", tiny.decoder_heads),
      .decoder_hidden_dim = config.width("decoder_ffn_dim", tiny.decoder_hidden_dim),
      .decoder_positions = config.width("max_target_positions", tiny.decoder_positions),
  };
  TransformerConfig result = whisper_config(sizes);
  config.check_heads(result.encoder, result.model_dim, "encoder_attention_heads");
  config.check_heads(result.decoder, result.model_dim, "decoder_attention_heads");
  result.activation = config.activation("activation_function", "gelu");
  // Only the decoder has embeddings to scale.
  if (config.flag("scale_embedding", false)) {
    result.decoder.embedding_scale = std::sqrt(static_cast<float>(result.model_dim));
  }
  result.pad_token = config.pad_token(result.decoder.vocabulary);
  result.decoder_start_token = config.token("decoder_start_token_id", result.decoder.vocabulary);
  return result;
}

ModelDescription describe_whisper(const JsonObject& config, const WeightStore& weights) {
  std::vector<StoredName> output{"proj_out"};
  if (config.boolean("tie_word_embeddings").value_or(true)) output.push_back("model.decoder.embed_tokens");
  WeightNames names = names_by_table(with_bart_layers({
      {"encoder.convolution_1", {"model.encoder.conv1"}},
      {"encoder.convolution_2", {"model.encoder.conv2"}},
      {"decoder.embedding", {"model.decoder.embed_tokens"}},
      {"output_projection", std::move(output)},
  }));
  return {read_whisper(config), without_missing_prefix("model.", weights, std::move(names))};
}

}  // namespace

TransformerConfig whisper_config(const WhisperSizes& sizes) {
  TransformerConfig config;
  config.model_type = "whisper";
  config.model_dim = sizes.model_dim;
  config.encoder.frames = {.width = sizes.mel_bands, .per_row = kWhisperFramesPerRow};
  config.encoder.layers = sizes.encoder_layers;
  config.encoder.heads = static_cast<int>(sizes.encoder_heads);
  config.encoder.hidden_dim = sizes.encoder_hidden_dim;
  config.encoder.positions = {.kind = PositionOptions::Kind::learned, .count = sizes.encoder_positions};
  config.decoder.vocabulary = sizes.vocabulary;
  config.decoder.layers = sizes.decoder_layers;
  config.decoder.heads = static_cast<int>(sizes.decoder_heads);
  config.decoder.hidden_dim = sizes.decoder_hidden_dim;
  config.decoder.positions = {.kind = PositionOptions::Kind::learned, .count = sizes.decoder_positions};
  config.activation = Activation::gelu;
  config.norm_order = NormOrder::first;
  // Keys have no bias, but CTranslate2 writes zeros.
  config.key_bias = Bias::optional;
  config.output_bias = Bias::none;
  return config;
}

std::vector<Family> whisper_families() {
  return {{"whisper", describe_whisper}};
}

}  // namespace encdec
