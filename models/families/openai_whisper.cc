// Whisper (Radford et al. 2023) as stored by openai/whisper and by whisper.cpp.
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/model_description.h"
#include "encdec/models/families/name_table.h"
#include "encdec/models/families/whisper.h"

namespace encdec {
namespace {

TransformerConfig read_sizes(const JsonObject& json) {
  const ConfigReader dims(json);
  const Dim width = json.required_integer("n_audio_state");
  if (json.required_integer("n_text_state") != width) {
    refuse<ConfigError>(json.file(), "n_text_state is {}, expected that of the encoder, {}",
                        json.required_integer("n_text_state"), width);
  }
  const TransformerConfig config = whisper_config({
      .mel_bands = json.required_integer("n_mels"),
      .model_dim = width,
      .vocabulary = json.required_integer("n_vocab"),
      .encoder_layers = static_cast<int>(json.required_integer("n_audio_layer")),
      .encoder_heads = json.required_integer("n_audio_head"),
      .encoder_hidden_dim = 4 * width,
      .encoder_positions = json.required_integer("n_audio_ctx"),
      .decoder_layers = static_cast<int>(json.required_integer("n_text_layer")),
      .decoder_heads = json.required_integer("n_text_head"),
      .decoder_hidden_dim = 4 * width,
      .decoder_positions = json.required_integer("n_text_ctx"),
  });
  dims.check_heads(config.encoder, width, "n_audio_head");
  dims.check_heads(config.decoder, width, "n_text_head");
  return config;
}

}  // namespace

ModelDescription describe_openai_whisper(const Checkpoint& checkpoint) {
  const CheckpointSettings& settings = checkpoint.settings;
  if (!settings.network) {
    refuse<ConfigError>(checkpoint.weights->origin(), "no sizes, expected those of a model of Whisper");
  }
  TransformerConfig config = read_sizes(*settings.network);
  if (settings.config) {
    const ConfigReader tokens(*settings.config);
    config.pad_token = tokens.token("pad_token_id", config.decoder.vocabulary);
    config.decoder_start_token = tokens.token("decoder_start_token_id", config.decoder.vocabulary);
  }
  return {std::move(config), names_by_table({
                                 {"encoder.convolution_1", {"encoder.conv1"}},
                                 {"encoder.convolution_2", {"encoder.conv2"}},
                                 {"%.positional_encoding.weight", {"%.positional_embedding"}},
                                 {"decoder.embedding", {"decoder.token_embedding"}},
                                 {"output_projection", {"decoder.token_embedding"}},
                                 {"encoder.norm", {"encoder.ln_post"}},
                                 {"decoder.norm", {"decoder.ln"}},
                                 {"%.*.self_attention.query", {"%.blocks.*.attn.query"}},
                                 {"%.*.self_attention.key", {"%.blocks.*.attn.key"}},
                                 {"%.*.self_attention.value", {"%.blocks.*.attn.value"}},
                                 {"%.*.self_attention.output", {"%.blocks.*.attn.out"}},
                                 {"%.*.self_attention_norm", {"%.blocks.*.attn_ln"}},
                                 {"%.*.cross_attention.query", {"%.blocks.*.cross_attn.query"}},
                                 {"%.*.cross_attention.key", {"%.blocks.*.cross_attn.key"}},
                                 {"%.*.cross_attention.value", {"%.blocks.*.cross_attn.value"}},
                                 {"%.*.cross_attention.output", {"%.blocks.*.cross_attn.out"}},
                                 {"%.*.cross_attention_norm", {"%.blocks.*.cross_attn_ln"}},
                                 {"%.*.feed_forward.expand", {"%.blocks.*.mlp.0"}},
                                 {"%.*.feed_forward.project", {"%.blocks.*.mlp.2"}},
                                 {"%.*.feed_forward_norm", {"%.blocks.*.mlp_ln"}},
                                 {"mel_filters", {"mel_filters"}},
                             })};
}

}  // namespace encdec
