// GPT-2 (Radford et al. 2019).

#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/families.h"
#include "encdec/models/families/name_table.h"

namespace encdec {
namespace {

TransformerConfig read_gpt2(const JsonObject& json) {
  const ConfigReader config(json);
  TransformerConfig result;
  result.architecture = Architecture::decoder_only;
  StackConfig& stack = result.decoder;
  stack.vocabulary = config.vocabulary("vocab_size", 50257);
  stack.layers = config.layers("n_layer", 12);
  stack.model_dim = config.width("n_embd", 768);
  stack.hidden_dim = config.width("n_inner", 4 * stack.model_dim);
  stack.positions = {.kind = PositionOptions::Kind::learned, .count = config.width("n_positions", 1024)};
  stack.attention.heads = config.heads("n_head", 12, stack.model_dim);
  stack.activation = config.activation("activation_function", "gelu_new");
  stack.norm_order = NormOrder::first;
  stack.norm.epsilon = config.epsilon("layer_norm_epsilon", 1e-5);
  if (!config.flag("scale_attn_weights", true)) stack.attention.score_scale = 1.0f;
  // Scores of layer i, counted from 1, are divided by i.
  if (config.flag("scale_attn_by_inverse_layer_idx", false)) {
    const float scale = stack.attention_of(0).scale();
    for (int layer = 0; layer < stack.layers; ++layer) {
      stack.layer_attention.emplace_back(stack.attention).score_scale = scale / static_cast<float>(layer + 1);
    }
  }
  result.output_bias = Bias::none;
  result.pad_token = config.pad_token(stack.vocabulary);
  return result;
}

// Queries, keys and values are stored as one merged matrix, and all matrices are stored transposed (Conv1D).
WeightNames gpt2_weight_names(const WeightStore& weights) {
  const StoredName merged = transposed("transformer.h.*.attn.c_attn");
  return without_missing_prefix("transformer.", weights,
                                names_by_table({
                                    {"decoder.embedding", {"transformer.wte"}},
                                    {"decoder.positional_encoding", {"transformer.wpe"}},
                                    {"decoder.*.self_attention.query", {part_of(merged, 0, 3)}},
                                    {"decoder.*.self_attention.key", {part_of(merged, 1, 3)}},
                                    {"decoder.*.self_attention.value", {part_of(merged, 2, 3)}},
                                    {"decoder.*.self_attention.output", {transposed("transformer.h.*.attn.c_proj")}},
                                    {"decoder.*.self_attention_norm", {"transformer.h.*.ln_1"}},
                                    {"decoder.*.feed_forward.expand", {transposed("transformer.h.*.mlp.c_fc")}},
                                    {"decoder.*.feed_forward.project", {transposed("transformer.h.*.mlp.c_proj")}},
                                    {"decoder.*.feed_forward_norm", {"transformer.h.*.ln_2"}},
                                    {"decoder.norm", {"transformer.ln_f"}},
                                    {"output_projection", {"lm_head", "transformer.wte"}},
                                }));
}

ModelDescription describe_gpt2(const JsonObject& config, const WeightStore& weights) {
  return {read_gpt2(config), gpt2_weight_names(weights)};
}

}  // namespace

std::vector<Family> gpt2_families() {
  return {{"gpt2", describe_gpt2, {"attn.bias", "masked_bias"}}};
}

}  // namespace encdec
