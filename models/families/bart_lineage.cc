#include "encdec/models/families/bart_lineage.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/name_table.h"

namespace encdec {
namespace {

StackConfig read_stack(const ConfigReader& config, const BartLineage& lineage, const std::string& name, int layers) {
  StackConfig stack;
  stack.layers = config.layers(name + "_layers", layers);
  stack.heads = static_cast<int>(config.width(name + "_attention_heads", lineage.heads));
  stack.hidden_dim = config.width(name + "_ffn_dim", lineage.hidden_dim);
  stack.vocabulary = config.vocabulary("vocab_size", lineage.vocabulary);
  stack.positions = lineage.positions;
  stack.positions.positions = config.width("max_position_embeddings", lineage.max_positions);
  if (lineage.positions_skip_pads) {
    const std::int32_t pad = config.token("pad_token_id", stack.vocabulary).value_or(lineage.pad_token);
    stack.positions.pad_token = pad;
    stack.positions.offset = Dim{pad} + 1;
  }
  config.check_heads(stack, config.width("d_model", lineage.model_dim), name + "_attention_heads");
  return stack;
}

}  // namespace

TransformerConfig read_bart_config(const JsonObject& json, const BartLineage& lineage) {
  const ConfigReader config(json);
  TransformerConfig result;
  result.model_type = lineage.model_type;
  result.model_dim = config.width("d_model", lineage.model_dim);
  result.encoder = read_stack(config, lineage, "encoder", lineage.encoder_layers);
  result.encoder.embedding_norm = lineage.encoder_embedding_norm;
  result.decoder = read_stack(config, lineage, "decoder", lineage.decoder_layers);
  if (lineage.separate_vocabularies) {
    result.decoder.vocabulary = config.vocabulary("decoder_vocab_size", result.encoder.vocabulary);
  }
  result.decoder.embedding_norm = lineage.decoder_embedding_norm;
  result.activation = config.activation("activation_function", lineage.activation);
  result.norm_order = lineage.norm_order;
  if (config.flag("scale_embedding", lineage.scale_embedding)) {
    const float scale = std::sqrt(static_cast<float>(result.model_dim));
    result.encoder.embedding_scale = scale;
    if (!lineage.scale_encoder_only) result.decoder.embedding_scale = scale;
  }
  result.target_language = lineage.target_language;
  result.pad_token = config.token("pad_token_id", result.decoder.vocabulary);
  result.decoder_start_token = config.token("decoder_start_token_id", result.decoder.vocabulary);
  return result;
}

// One tensor may serve as both embeddings and the output projection. It is stored once, under whichever of the names
// the writer chose; a tensor under a role's own name always comes first. Without tying, `model.shared` may still stand
// for embeddings, never for the projection.
WeightNames bart_weight_names(const JsonObject& config, const WeightStore& weights, const BartLineage& lineage) {
  const bool shared =
      !lineage.separate_vocabularies || config.boolean("share_encoder_decoder_embeddings").value_or(true);
  const std::string encoder = "model.encoder.embed_tokens", decoder = "model.decoder.embed_tokens";
  const std::string output = "lm_head", common = "model.shared";
  std::vector<StoredName> encoder_embedding{encoder}, decoder_embedding{decoder}, projection{output};
  if (shared) {
    encoder_embedding.insert(encoder_embedding.end(), {common, decoder});
    decoder_embedding.insert(decoder_embedding.end(), {common, encoder});
  }
  if (config.boolean("tie_word_embeddings").value_or(true)) {
    projection.emplace_back(decoder);
    decoder_embedding.emplace_back(output);
    if (shared) {
      projection.insert(projection.end(), {common, encoder});
      encoder_embedding.emplace_back(output);
    }
  }
  std::vector<NamePattern> table = {
      {"encoder.embedding", std::move(encoder_embedding)},
      {"decoder.embedding", std::move(decoder_embedding)},
      {"encoder.positional_encoding", {"model.encoder.embed_positions"}},
      {"decoder.positional_encoding", {"model.decoder.embed_positions"}},
      {"encoder.embedding_norm", {"model.encoder.layernorm_embedding"}},
      {"decoder.embedding_norm", {"model.decoder.layernorm_embedding"}},
      {"encoder.norm", {"model.encoder.layer_norm"}},
      {"decoder.norm", {"model.decoder.layer_norm"}},
      {"output_projection.bias", {"final_logits_bias"}},
      {"output_projection", std::move(projection)},
  };
  const auto add = [&](std::string_view canonical, std::string_view stored) {
    table.push_back({std::string(canonical),
                     {fmt::format("model.{}.layers.*.{}", canonical.substr(0, canonical.find('.')), stored)}});
  };
  add("encoder.*.self_attention.query", "self_attn.q_proj");
  add("encoder.*.self_attention.key", "self_attn.k_proj");
  add("encoder.*.self_attention.value", "self_attn.v_proj");
  add("encoder.*.self_attention.output", "self_attn.out_proj");
  add("encoder.*.self_attention_norm", "self_attn_layer_norm");
  add("encoder.*.feed_forward.expand", "fc1");
  add("encoder.*.feed_forward.project", "fc2");
  add("encoder.*.feed_forward_norm", "final_layer_norm");
  add("decoder.*.self_attention.query", "self_attn.q_proj");
  add("decoder.*.self_attention.key", "self_attn.k_proj");
  add("decoder.*.self_attention.value", "self_attn.v_proj");
  add("decoder.*.self_attention.output", "self_attn.out_proj");
  add("decoder.*.self_attention_norm", "self_attn_layer_norm");
  add("decoder.*.cross_attention.query", "encoder_attn.q_proj");
  add("decoder.*.cross_attention.key", "encoder_attn.k_proj");
  add("decoder.*.cross_attention.value", "encoder_attn.v_proj");
  add("decoder.*.cross_attention.output", "encoder_attn.out_proj");
  add("decoder.*.cross_attention_norm", "encoder_attn_layer_norm");
  add("decoder.*.feed_forward.expand", "fc1");
  add("decoder.*.feed_forward.project", "fc2");
  add("decoder.*.feed_forward_norm", "final_layer_norm");
  return without_missing_prefix("model.", weights, names_by_table(std::move(table)));
}

}  // namespace encdec
