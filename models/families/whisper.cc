// Whisper (Radford et al. 2023) as stored by transformers.
#include "encdec/models/families/whisper.h"

#include <cmath>
#include <utility>

#include "encdec/layers/transformer/convolution_1d.h"
#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/families.h"
#include "encdec/models/families/name_table.h"
#include "encdec/models/network/blocks.h"

namespace encdec {
namespace {

// Adds two convolutions over the log-mel frames, then the positions, then the blocks (section 2.2).
Edge add_encoder(Stack& stack, Edge frames) {
  Convolution1dOptions options{.input_width = stack.config().frames.width,
                               .output_width = stack.width(),
                               .padding = 1,
                               .activation = Activation::gelu,
                               .positions_per_row = kWhisperFramesPerRow};
  Edge x = stack.graph().add<Convolution1d>(stack.weights() / "convolution_1", {frames}, options);
  options.input_width = stack.width();
  options.stride = kWhisperFramesPerRow;
  x = stack.graph().add<Convolution1d>(stack.weights() / "convolution_2", {x}, options);
  return stack.add_blocks(stack.add_positions("positional_encoding", {x}, stack.width()));
}

TransformerConfig read_whisper(const JsonObject& json) {
  const ConfigReader config(json);
  TransformerConfig result = whisper_config();
  StackConfig &encoder = result.encoder, &decoder = result.decoder;
  encoder.frames.width = config.width("num_mel_bins", 80);
  decoder.vocabulary = config.vocabulary("vocab_size", 51865);
  encoder.layers = config.layers("encoder_layers", 4);
  encoder.hidden_dim = config.width("encoder_ffn_dim", 1536);
  encoder.positions.count = config.width("max_source_positions", 1500);
  decoder.layers = config.layers("decoder_layers", 4);
  decoder.hidden_dim = config.width("decoder_ffn_dim", 1536);
  decoder.positions.count = config.width("max_target_positions", 448);
  encoder.model_dim = decoder.model_dim = config.width("d_model", 384);
  encoder.attention.heads = config.heads("encoder_attention_heads", 6, encoder.model_dim);
  decoder.attention.heads = config.heads("decoder_attention_heads", 6, decoder.model_dim);
  encoder.activation = decoder.activation = config.activation("activation_function", "gelu");
  // Only the decoder has embeddings to scale.
  if (config.flag("scale_embedding", false)) {
    result.decoder.embedding_scale = std::sqrt(static_cast<float>(decoder.model_dim));
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
  StackConfig stack{.positions = {.kind = PositionOptions::Kind::learned},
                    .norm_order = NormOrder::first,
                    .attention = {.key_bias = Bias::optional},  // keys have no bias, but CTranslate2 writes zeros
                    .activation = Activation::gelu};
  config.encoder = config.decoder = stack;
  config.encoder.frames.per_row = kWhisperFramesPerRow;
  config.encoder.compose = add_encoder;
  config.output_bias = Bias::none;
  return config;
}

std::vector<Family> whisper_families() {
  return {{"whisper", describe_whisper}};
}

}  // namespace encdec
