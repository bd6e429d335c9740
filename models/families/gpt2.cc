// GPT-2 (Radford et al. 2019).
#include <cmath>

#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/families.h"
#include "encdec/models/families/name_table.h"

namespace encdec {
namespace {

TransformerConfig read_gpt2_config(const JsonObject& json) {
  const ConfigReader config(json);
  TransformerConfig result;
  result.model_type = "gpt2";
  result.architecture = Architecture::decoder_only;
  result.model_dim = config.width("n_embd", 768);
  result.decoder.vocabulary = config.vocabulary("vocab_size", 50257);
  result.decoder.layers = config.layers("n_layer", 12);
  result.decoder.heads = static_cast<int>(config.width("n_head", 12));
  result.decoder.hidden_dim = config.width("n_inner", 4 * result.model_dim);
  result.decoder.positions = {.kind = PositionOptions::Kind::learned, .positions = config.width("n_positions", 1024)};
  config.check_heads(result.decoder, result.model_dim, "n_head");
  result.activation = config.activation("activation_function", "gelu_new");
  result.norm_order = NormOrder::first;
  result.norm_epsilon = config.epsilon("layer_norm_epsilon", 1e-5);
  if (!config.flag("scale_attn_weights", true)) result.score_scale = 1.0f;
  result.divide_scores_by_layer = config.flag("scale_attn_by_inverse_layer_idx", false);
  result.output_bias = Bias::none;
  result.pad_token = config.token("pad_token_id", result.decoder.vocabulary);
  return result;
}

// Matrices are stored for y = x W, those of query, key and value side by side.
std::vector<StoredName> transposed_part(const char* name, int part = 0, int parts = 1) {
  StoredName stored(name);
  stored.transposed = true;
  stored.part = part;
  stored.parts = parts;
  return {stored};
}

WeightNames gpt2_weight_names(const JsonObject&, const WeightStore& weights) {
  return without_missing_prefix(
      "transformer.", weights,
      names_by_table({
          {"decoder.embedding", {"transformer.wte"}},
          {"decoder.positional_encoding", {"transformer.wpe"}},
          {"decoder.*.self_attention.query", transposed_part("transformer.h.*.attn.c_attn", 0, 3)},
          {"decoder.*.self_attention.key", transposed_part("transformer.h.*.attn.c_attn", 1, 3)},
          {"decoder.*.self_attention.value", transposed_part("transformer.h.*.attn.c_attn", 2, 3)},
          {"decoder.*.self_attention.output", transposed_part("transformer.h.*.attn.c_proj")},
          {"decoder.*.self_attention_norm", {"transformer.h.*.ln_1"}},
          {"decoder.*.feed_forward.expand", transposed_part("transformer.h.*.mlp.c_fc")},
          {"decoder.*.feed_forward.project", transposed_part("transformer.h.*.mlp.c_proj")},
          {"decoder.*.feed_forward_norm", {"transformer.h.*.ln_2"}},
          {"decoder.norm", {"transformer.ln_f"}},
          {"output_projection", {"lm_head", "transformer.wte"}},
      }));
}

}  // namespace

const Family kGpt2{"gpt2", read_gpt2_config, gpt2_weight_names};

}  // namespace encdec
