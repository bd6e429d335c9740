// Decoders with rotary positions: Llama (Touvron et al. 2023), Mistral (Jiang et al. 2023), Qwen 2 and 3 (Yang et al.
// 2024, 2025), Gemma 2 and 3 (Gemma Team 2024, 2025).

#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/families.h"
#include "encdec/models/families/rotary_stack.h"

namespace encdec {
namespace {

struct Decoder {
  std::string_view model_type;
  RotaryStackDefaults missing;
  double logits_cap = 0.0;
};

constexpr RotaryStackDefaults kQwen2{
    .vocabulary = 151'936, .hidden_dim = 22'016, .windows = RotaryStackDefaults::Windows::last};

constexpr RotaryStackDefaults kQwen3 = [] {
  RotaryStackDefaults qwen = kQwen2;
  qwen.head_dim = 128;
  qwen.has_head_norm = true;
  return qwen;
}();

constexpr Decoder kDecoders[] = {
    {"llama", {}},
    {"mistral", {.hidden_dim = 14'336, .key_value_heads = 8, .windows = RotaryStackDefaults::Windows::all}},
    {"qwen2", kQwen2},
    {"qwen3", kQwen3},
    {"gemma2", kGemma2Stack, kGemma2LogitsCap},
    {"gemma3_text", kGemma3Stack},
    {"gemma3", kGemma3Stack},
};

// Describes a decoder. Gemma 3 with images has the decoder's settings in text_config; images are not supported.
ModelDescription describe(const Decoder& decoder, const JsonObject& config, const WeightStore& weights) {
  const JsonObject json = config.object("text_config").value_or(config);
  if (decoder.missing.has_head_norm) json.expect("use_bidirectional_attention", false);  // only encoders set it to true
  TransformerConfig network;
  network.architecture = Architecture::decoder_only;
  network.decoder = read_rotary_stack(json, decoder.missing);
  network.output_bias = Bias::none;
  network.logits_cap = logits_cap_of(json, decoder.logits_cap);
  network.pad_token = ConfigReader(json).pad_token(network.decoder.vocabulary);
  // Checkpoints of Gemma 3 with images store the decoder under one of two prefixes.
  std::string prefix = "model.", head = "lm_head";
  if (has_prefix(weights, "language_model.")) prefix = "language_model.model.", head = "language_model.lm_head";
  if (has_prefix(weights, "model.language_model.")) prefix = "model.language_model.";
  return {std::move(network),
          without_missing_prefix("model.", weights,
                                 names_by_table(rotary_stack_names("decoder", prefix),
                                                {{"output_projection", {head, prefix + "embed_tokens"}}}))};
}

}  // namespace

std::vector<Family> llama_families() {
  std::vector<Family> families;
  for (const Decoder& decoder : kDecoders) {
    families.push_back({decoder.model_type,
                        [&decoder](const JsonObject& config, const WeightStore& weights) {
                          return describe(decoder, config, weights);
                        },
                        {"rotary_emb.inv_freq", "vision_tower.", "multi_modal_projector."}});
  }
  return families;
}

}  // namespace encdec
