// Encoder-decoders with Gemma's layers. T5Gemma (Zhang et al. 2025) has Gemma 2's layers. T5Gemma 2 (Zhang et al. 2025)
// has Gemma 3's layers and merged attention; images are not supported.
#include <algorithm>

#include "encdec/layers/transformer/merged_attention.h"
#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/families.h"
#include "encdec/models/families/rotary_stack.h"
#include "encdec/models/network/blocks.h"

namespace encdec {
namespace {

// Replaces an encoder's windows by both_sides(window length). read_rotary_stack() has read them as a decoder's windows.
template <class Window>
void see_both_sides(StackConfig& encoder, const Window& both_sides) {
  for (AttentionOptions& layer : encoder.layer_attention) {
    if (layer.limits.after == 0) layer.limits = both_sides(layer.limits.before + 1);
  }
}

// Describes the parts that are the same in both models. The encoder's stored names begin with `encoder_prefix`.
ModelDescription describe(const JsonObject& encoder, const JsonObject& decoder, const RotaryStackDefaults& missing,
                          double logits_cap, const std::string& encoder_prefix) {
  TransformerConfig network;
  network.encoder = read_rotary_stack(encoder, missing);
  network.decoder = read_rotary_stack(decoder, missing);
  for (AttentionOptions& layer : network.decoder.layer_attention) layer.encoder_dim = network.encoder.model_dim;
  network.output_bias = Bias::none;
  network.logits_cap = logits_cap_of(decoder, logits_cap);
  const ConfigReader config(decoder);
  network.pad_token = config.pad_token(network.decoder.vocabulary);
  network.decoder_start_token = config.token("bos_token_id", network.decoder.vocabulary).value_or(2);
  // T5Gemma 2 stores only one embedding table, under the encoder's name.
  std::vector<NamePattern> names = rotary_stack_names("encoder", encoder_prefix);
  std::ranges::move(rotary_stack_names("decoder", "model.decoder."), std::back_inserter(names));
  const std::string tied = encoder_prefix + "embed_tokens";
  return {std::move(network),
          names_by_table({{"decoder.embedding", {"model.decoder.embed_tokens", tied}},
                          {"output_projection", {"lm_head.out_proj", "model.decoder.embed_tokens", tied}}},
                         names)};
}

ModelDescription describe_t5gemma(const JsonObject& json, const WeightStore&) {
  ModelDescription model = describe(json.required_object("encoder"), json.required_object("decoder"), kGemma2Stack,
                                    kGemma2LogitsCap, "model.encoder.");
  see_both_sides(model.config.encoder, [](int window) { return kernels::KeyLimits{window, window}; });
  return model;
}

ModelDescription describe_t5gemma2(const JsonObject& json, const WeightStore& weights) {
  const JsonObject encoder = json.required_object("encoder");
  const std::string prefix = "model.encoder.", in_part = prefix + "text_model.";
  ModelDescription model = describe(encoder.required_object("text_config"), json.required_object("decoder"),
                                    kGemma3Stack, 0, has_prefix(weights, in_part) ? in_part : prefix);
  see_both_sides(model.config.encoder, [](int window) { return kernels::KeyLimits{(window + 1) / 2 - 1, window / 2}; });
  // One attention node replaces self-attention and cross-attention.
  model.config.decoder.block = [](Block& block, Edge x) {
    const auto attend = [&block](Edge y, std::optional<Edge>) {
      return block.layer<MergedAttention>("self_attention", {y, block.key_values()},
                                          block.stack().config().attention_of(block.number()));
    };
    return block.feed_forward(block.with_residual("self_attention_norm", x, attend));
  };
  // The self-attention's weights also project the keys and values of the source.
  model.weight_names = [names = std::move(model.weight_names)](const std::string& canonical) {
    constexpr std::string_view kCross = ".cross_attention.";
    const std::size_t found = canonical.find(kCross);
    return names(found == std::string::npos ? canonical
                                            : std::string(canonical).replace(found, kCross.size(), ".self_attention."));
  };
  return model;
}

}  // namespace

std::vector<Family> t5gemma_families() {
  return {{"t5gemma", describe_t5gemma, {"rotary_emb.inv_freq"}},
          {"t5gemma2",
           describe_t5gemma2,
           {"rotary_emb.inv_freq", "eoi_embedding", "vision_tower.", "multi_modal_projector."}}};
}

}  // namespace encdec
