// Marian (Junczys-Dowmunt et al. 2018) as transformers stores it: OPUS-MT's models.
#include <fmt/format.h>

#include <cmath>

#include "encdec/engine/error.h"
#include "encdec/models/families/families.h"

namespace encdec {
namespace {

constexpr std::int64_t kMaxVocabulary = 10'000'000;
constexpr std::int64_t kMaxWidth = 1 << 20;
constexpr std::int64_t kMaxLayers = 1024;

StackConfig read_stack(const JsonObject& config, const std::string& name) {
  StackConfig stack;
  stack.layers = static_cast<int>(config.integer(name + "_layers", {1, kMaxLayers}).value_or(12));
  stack.heads = static_cast<int>(config.integer(name + "_attention_heads", {1, kMaxWidth}).value_or(16));
  stack.hidden_dim = config.integer(name + "_ffn_dim", {1, kMaxWidth}).value_or(4096);
  const Dim model_dim = config.integer("d_model", {1, kMaxWidth}).value_or(1024);
  if (model_dim % stack.heads != 0) {
    throw ConfigError(fmt::format("{}: {}_attention_heads {} does not divide d_model {}", config.file(), name,
                                  stack.heads, model_dim));
  }
  return stack;
}

std::optional<std::int32_t> read_token(const JsonObject& config, std::string_view key, Dim vocabulary) {
  const auto id = config.integer(key, {0, vocabulary - 1});
  return id ? std::optional(static_cast<std::int32_t>(*id)) : std::nullopt;
}

TransformerConfig read_config(const JsonObject& config) {
  TransformerConfig result;
  result.model_type = "marian";
  result.model_dim = config.integer("d_model", {1, kMaxWidth}).value_or(1024);
  result.encoder = read_stack(config, "encoder");
  result.decoder = read_stack(config, "decoder");
  result.encoder.vocabulary = config.integer("vocab_size", {1, kMaxVocabulary}).value_or(58101);
  result.decoder.vocabulary =
      config.integer("decoder_vocab_size", {1, kMaxVocabulary}).value_or(result.encoder.vocabulary);
  result.max_positions = config.integer("max_position_embeddings", {1, kMaxWidth}).value_or(1024);

  const std::string activation = config.string("activation_function").value_or("gelu");
  const auto known = activation_named(activation);
  if (!known) {
    throw ConfigError(fmt::format("{}: activation_function '{}' is not supported, expected one of {}", config.file(),
                                  activation, activation_names()));
  }
  result.activation = *known;
  if (config.boolean("scale_embedding").value_or(false)) {
    result.embedding_scale = std::sqrt(static_cast<float>(result.model_dim));
  }
  result.pad_token = read_token(config, "pad_token_id", result.decoder.vocabulary);
  result.decoder_start_token = read_token(config, "decoder_start_token_id", result.decoder.vocabulary);
  return result;
}

// One tensor may serve as both embeddings and the output projection. It is stored once, under whichever of the names
// the writer chose; a tensor under a role's own name always comes first.
WeightNames weight_names(const JsonObject& config) {
  const bool shared = config.boolean("share_encoder_decoder_embeddings").value_or(true);
  const std::string encoder = "model.encoder.embed_tokens", decoder = "model.decoder.embed_tokens";
  const std::string output = "lm_head", common = "model.shared";
  std::vector<StoredName> encoder_embedding{encoder}, decoder_embedding{decoder}, projection{output};
  if (shared) {
    encoder_embedding.insert(encoder_embedding.end(), {common, decoder});
    decoder_embedding.insert(decoder_embedding.end(), {common, encoder});
  }
  if (config.boolean("tie_word_embeddings").value_or(true)) {
    projection.push_back(decoder);
    decoder_embedding.push_back(output);
    if (shared) {
      projection.insert(projection.end(), {common, encoder});
      encoder_embedding.push_back(output);
    }
  }
  std::vector<StoredName> projection_bias{"final_logits_bias"};
  const auto layer = [](std::string_view stack, std::string_view part) {
    return std::vector<StoredName>{fmt::format("model.{}.layers.*.{}", stack, part)};
  };
  return names_by_table({
      {"encoder.embedding", std::move(encoder_embedding)},
      {"decoder.embedding", std::move(decoder_embedding)},
      {"encoder.positional_encoding", {"model.encoder.embed_positions"}},
      {"decoder.positional_encoding", {"model.decoder.embed_positions"}},
      {"output_projection.bias", std::move(projection_bias)},
      {"output_projection", std::move(projection)},
      {"encoder.*.self_attention.query", layer("encoder", "self_attn.q_proj")},
      {"encoder.*.self_attention.key", layer("encoder", "self_attn.k_proj")},
      {"encoder.*.self_attention.value", layer("encoder", "self_attn.v_proj")},
      {"encoder.*.self_attention.output", layer("encoder", "self_attn.out_proj")},
      {"encoder.*.self_attention_norm", layer("encoder", "self_attn_layer_norm")},
      {"encoder.*.feed_forward.expand", layer("encoder", "fc1")},
      {"encoder.*.feed_forward.project", layer("encoder", "fc2")},
      {"encoder.*.feed_forward_norm", layer("encoder", "final_layer_norm")},
      {"decoder.*.self_attention.query", layer("decoder", "self_attn.q_proj")},
      {"decoder.*.self_attention.key", layer("decoder", "self_attn.k_proj")},
      {"decoder.*.self_attention.value", layer("decoder", "self_attn.v_proj")},
      {"decoder.*.self_attention.output", layer("decoder", "self_attn.out_proj")},
      {"decoder.*.self_attention_norm", layer("decoder", "self_attn_layer_norm")},
      {"decoder.*.cross_attention.query", layer("decoder", "encoder_attn.q_proj")},
      {"decoder.*.cross_attention.key", layer("decoder", "encoder_attn.k_proj")},
      {"decoder.*.cross_attention.value", layer("decoder", "encoder_attn.v_proj")},
      {"decoder.*.cross_attention.output", layer("decoder", "encoder_attn.out_proj")},
      {"decoder.*.cross_attention_norm", layer("decoder", "encoder_attn_layer_norm")},
      {"decoder.*.feed_forward.expand", layer("decoder", "fc1")},
      {"decoder.*.feed_forward.project", layer("decoder", "fc2")},
      {"decoder.*.feed_forward_norm", layer("decoder", "final_layer_norm")},
  });
}

}  // namespace

const Family kMarian{"marian", read_config, weight_names};

}  // namespace encdec
