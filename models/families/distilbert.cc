// DistilBERT (Sanh et al. 2019).
#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/families.h"
#include "encdec/models/families/name_table.h"

namespace encdec {
namespace {

TransformerConfig read_distilbert_config(const JsonObject& json) {
  const ConfigReader config(json);
  TransformerConfig result;
  result.model_type = "distilbert";
  result.architecture = Architecture::encoder_only;
  result.model_dim = config.width("dim", 768);
  result.encoder.vocabulary = config.vocabulary("vocab_size", 30522);
  result.encoder.layers = config.layers("n_layers", 6);
  result.encoder.heads = static_cast<int>(config.width("n_heads", 12));
  result.encoder.hidden_dim = config.width("hidden_dim", 3072);
  // Learned, or sinusoidal and stored all the same.
  result.encoder.positions = {.kind = PositionOptions::Kind::learned,
                              .positions = config.width("max_position_embeddings", 512)};
  result.encoder.embedding_norm = EmbeddingNorm::after_positions;
  config.check_heads(result.encoder, result.model_dim, "n_heads");
  result.activation = config.activation("activation", "gelu");
  result.norm_epsilon = 1e-12f;
  result.pad_token = config.token("pad_token_id", result.encoder.vocabulary);
  return result;
}

WeightNames distilbert_weight_names(const JsonObject&, const WeightStore& weights) {
  return with_gamma_and_beta(without_missing_prefix(
      "distilbert.", weights,
      names_by_table({
          {"encoder.embedding", {"distilbert.embeddings.word_embeddings"}},
          {"encoder.positional_encoding", {"distilbert.embeddings.position_embeddings"}},
          {"encoder.embedding_norm", {"distilbert.embeddings.LayerNorm"}},
          {"encoder.*.self_attention.query", {"distilbert.transformer.layer.*.attention.q_lin"}},
          {"encoder.*.self_attention.key", {"distilbert.transformer.layer.*.attention.k_lin"}},
          {"encoder.*.self_attention.value", {"distilbert.transformer.layer.*.attention.v_lin"}},
          {"encoder.*.self_attention.output", {"distilbert.transformer.layer.*.attention.out_lin"}},
          {"encoder.*.self_attention_norm", {"distilbert.transformer.layer.*.sa_layer_norm"}},
          {"encoder.*.feed_forward.expand", {"distilbert.transformer.layer.*.ffn.lin1"}},
          {"encoder.*.feed_forward.project", {"distilbert.transformer.layer.*.ffn.lin2"}},
          {"encoder.*.feed_forward_norm", {"distilbert.transformer.layer.*.output_layer_norm"}},
      })));
}

}  // namespace

const Family kDistilBert{"distilbert", read_distilbert_config, distilbert_weight_names};

}  // namespace encdec
