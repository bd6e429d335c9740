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
  TransformerConfig result = whisper_config();
  StackConfig &encoder = result.encoder, &decoder = result.decoder;
  encoder.frames.width = config.width("num_mel_bins", 80);
  result.model_dim = config.width("d_model", 384);
  decoder.vocabulary = config.vocabulary("vocab_size", 51865);
  encoder.layers = config.layers("encoder_layers", 4);
  encoder.heads = static_cast<int>(config.width("encoder_attention_heads", 6));
  encoder.hidden_dim = config.width("encoder_ffn_dim", 1536);
  encoder.positions.count = config.width("max_source_positions", 1500);
  decoder.layers = config.layers("decoder_layers", 4);
  decoder.heads = static_cast<int>(config.width("decoder_attention_heads", 6));
  decoder.hidden_dim = config.width("decoder_ffn_dim", 1536);
  decoder.positions.count = config.width("max_target_positions", 448);
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

TransformerConfig whisper_config() {
  TransformerConfig config;
  config.model_type = "whisper";
  config.encoder.frames.per_row = kWhisperFramesPerRow;
  config.encoder.positions.kind = config.decoder.positions.kind = PositionOptions::Kind::learned;
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
