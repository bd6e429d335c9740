// BERT (Devlin et al. 2019), RoBERTa (Liu et al. 2019), XLM-R (Conneau et al. 2020), CamemBERT (Martin et al. 2020),
// DistilBERT (Sanh et al. 2019), ELECTRA (Clark et al. 2020), ALBERT (Lan et al. 2020), MPNet (Song et al. 2020), and
// DeBERTa-v2 and v3 (He et al. 2021, 2023).
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "encdec/engine/base/refuse.h"
#include "encdec/layers/transformer/convolution_1d.h"
#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/families.h"
#include "encdec/models/families/head.h"
#include "encdec/models/families/name_table.h"
#include "encdec/models/network/blocks.h"

namespace encdec {
namespace {

// The keys in config.json of the settings that all these models have, and the defaults for missing keys.
struct BertKeys {
  std::string_view model_dim = "hidden_size";
  std::string_view layers = "num_hidden_layers";
  std::string_view heads = "num_attention_heads";
  std::string_view hidden_dim = "intermediate_size";
  std::string_view activation = "hidden_act";
  int missing_layers = 12;
  Dim missing_dim = 768;
  Dim missing_heads = 12;
  Dim missing_hidden_dim = 3072;
  std::string_view missing_activation = "gelu";
};

TransformerConfig read_encoder(const ConfigReader& config, const BertKeys& keys, Dim vocabulary) {
  TransformerConfig result;
  result.architecture = Architecture::encoder_only;
  StackConfig& stack = result.encoder;
  stack.vocabulary = config.vocabulary("vocab_size", vocabulary);
  stack.layers = config.layers(keys.layers, keys.missing_layers);
  stack.model_dim = config.width(keys.model_dim, keys.missing_dim);
  stack.attention.heads = config.heads(keys.heads, keys.missing_heads, stack.model_dim);
  stack.hidden_dim = config.width(keys.hidden_dim, keys.missing_hidden_dim);
  // DistilBERT's positions may be sinusoidal, but checkpoints store them like learned positions.
  stack.positions = {.kind = PositionOptions::Kind::learned, .count = config.width("max_position_embeddings", 512)};
  stack.embedding_norm = EmbeddingNorm::after_positions;
  stack.activation = config.activation(keys.activation, keys.missing_activation);
  stack.norm.epsilon = 1e-12f;
  result.output_bias = Bias::required;
  result.pad_token = config.pad_token(stack.vocabulary);
  return result;
}

// Reads the settings of read_encoder(), and BERT's epsilon, token types and head.
TransformerConfig read_bert_config(const JsonObject& json, Dim vocabulary, const BertKeys& keys = {}) {
  const ConfigReader config(json);
  json.expect("position_embedding_type", "absolute");
  TransformerConfig result = read_encoder(config, keys, vocabulary);
  result.encoder.norm.epsilon = config.epsilon("layer_norm_eps", 1e-12);
  result.encoder.token_types = config.width("type_vocab_size", 2);
  result.head = read_head(json, {Activation::tanh, result.encoder.activation}, result.encoder.vocabulary);
  return result;
}

// Returns the tensor names of a model with BERT's layer names. The rows of `own`, which include the head's rows, take
// precedence over BERT's rows.
WeightNames bert_weight_names(const std::string& prefix, const WeightStore& weights, std::vector<NamePattern> own) {
  const std::vector<NamePattern> of_bert = {
      {"encoder.embedding", {prefix + "embeddings.word_embeddings"}},
      {"encoder.positional_encoding", {prefix + "embeddings.position_embeddings"}},
      {"encoder.token_type_embedding", {prefix + "embeddings.token_type_embeddings"}},
      {"encoder.embedding_norm", {prefix + "embeddings.LayerNorm"}},
      {"encoder.embedding_projection", {prefix + "embeddings_project"}},
      {"encoder.*.self_attention.query", {prefix + "encoder.layer.*.attention.self.query"}},
      {"encoder.*.self_attention.key", {prefix + "encoder.layer.*.attention.self.key"}},
      {"encoder.*.self_attention.value", {prefix + "encoder.layer.*.attention.self.value"}},
      {"encoder.*.self_attention.output", {prefix + "encoder.layer.*.attention.output.dense"}},
      {"encoder.*.self_attention_norm", {prefix + "encoder.layer.*.attention.output.LayerNorm"}},
      {"encoder.*.feed_forward.expand", {prefix + "encoder.layer.*.intermediate.dense"}},
      {"encoder.*.feed_forward.project", {prefix + "encoder.layer.*.output.dense"}},
      {"encoder.*.feed_forward_norm", {prefix + "encoder.layer.*.output.LayerNorm"}},
  };
  return with_gamma_and_beta(without_missing_prefix(prefix, weights, names_by_table(std::move(own), of_bert)));
}

ModelDescription describe_bert(const JsonObject& json, const WeightStore& weights) {
  const TransformerConfig config = read_bert_config(json, 30522);
  const std::string predictions = "cls.predictions.", transform = predictions + "transform.";
  return {config, bert_weight_names("bert.", weights,
                                    head_names(json, config.head, {"bert.pooler.dense", "classifier"},
                                               {transform + "dense", predictions + "decoder", transform + "LayerNorm",
                                                predictions + "bias"},
                                               "bert.embeddings.word_embeddings"))};
}

// Returns the tensor names of a RoBERTa head.
std::vector<NamePattern> roberta_head(const JsonObject& json, const HeadConfig& head, const std::string& prefix) {
  return head_names(json, head,
                    {"classifier.dense", head.kind == HeadKind::tokens ? "classifier" : "classifier.out_proj"},
                    {"lm_head.dense", "lm_head.decoder", "lm_head.layer_norm", "lm_head.bias"},
                    prefix + "embeddings.word_embeddings");
}

// A masked language model's head uses gelu, whatever config.json specifies for the layers.
void set_language_model_activation(HeadConfig& head) {
  if (head.kind == HeadKind::vocabulary) head.activation = Activation::gelu;
}

// Makes the encoder project embeddings of `width` numbers to the width of its layers.
void project_embeddings(Dim width, StackConfig& config) {
  config.compose = [width](Stack& stack, Edge token_ids) {
    const Edge x = stack.embed_tokens(token_ids, width);
    return stack.add_blocks(
        stack.graph().add<Linear>(stack.weights() / "embedding_projection", {x},
                                  LinearOptions{.input_width = width, .output_width = stack.width()}));
  };
}

ModelDescription describe_electra(const JsonObject& json, const WeightStore& weights) {
  TransformerConfig config = read_bert_config(json, 30522);
  const Dim width = ConfigReader(json).width("embedding_size", 128);
  if (width != config.model_dim()) project_embeddings(width, config.encoder);
  config.head = read_classifier_head(json, Activation::gelu);  // the masked language model's head is not supported
  return {config, bert_weight_names("electra.", weights, roberta_head(json, config.head, "electra."))};
}

// Divides the layers into groups that share weights (ALBERT). Group sizes are rounded as in transformers.
void share_weights(int groups, StackConfig& config) {
  config.shares_weights = true;
  config.block = [layers_per_group = config.layers / static_cast<double>(groups)](Block& block, Edge x) {
    block.share_weights_of(static_cast<int>(block.number() / layers_per_group));
    return block.add(x);
  };
}

ModelDescription describe_albert(const JsonObject& json, const WeightStore& weights) {
  const ConfigReader reader(json);
  json.expect("inner_group_num", 1);
  TransformerConfig config = read_bert_config(
      json, 30000,
      {.missing_dim = 4096, .missing_heads = 64, .missing_hidden_dim = 16384, .missing_activation = "gelu_new"});
  project_embeddings(reader.width("embedding_size", 128), config.encoder);
  share_weights(reader.layers("num_hidden_groups", 1), config.encoder);
  config.head = read_classifier_head(json, Activation::tanh);
  const std::string layer = "albert.encoder.albert_layer_groups.*.albert_layers.0.", attention = layer + "attention.";
  return {config, bert_weight_names("albert.", weights,
                                    {{"head.dense", {"albert.pooler"}},
                                     {"head.output", {"classifier"}},
                                     {"encoder.embedding_projection", {"albert.encoder.embedding_hidden_mapping_in"}},
                                     {"encoder.*.self_attention.query", {attention + "query"}},
                                     {"encoder.*.self_attention.key", {attention + "key"}},
                                     {"encoder.*.self_attention.value", {attention + "value"}},
                                     {"encoder.*.self_attention.output", {attention + "dense"}},
                                     {"encoder.*.self_attention_norm", {attention + "LayerNorm"}},
                                     {"encoder.*.feed_forward.expand", {layer + "ffn"}},
                                     {"encoder.*.feed_forward.project", {layer + "ffn_output"}},
                                     {"encoder.*.feed_forward_norm", {layer + "full_layer_layer_norm"}}})};
}

// Numbers positions as fairseq does: the table begins with unused rows, one for each id up to the pad token.
void number_as_fairseq(const JsonObject& json, std::int32_t pad_token, PositionOptions& positions) {
  positions.pad_token = pad_token;
  positions.offset = Dim{pad_token} + 1;
  if (positions.count <= positions.offset) {
    refuse<ConfigError>(json.file(), "max_position_embeddings {}, expected more than pad_token_id + 1, {}",
                        positions.count, positions.offset);
  }
  positions.count -= positions.offset;
}

ModelDescription describe_roberta(const JsonObject& json, const WeightStore& weights) {
  TransformerConfig config = read_bert_config(json, 50265);
  const auto pad = ConfigReader(json).token("pad_token_id", config.encoder.vocabulary);
  number_as_fairseq(json, pad.value_or(1), config.encoder.positions);
  set_language_model_activation(config.head);
  return {config, bert_weight_names("roberta.", weights, roberta_head(json, config.head, "roberta."))};
}

// Describes MPNet, which has one table of relative position biases. Positions are numbered as in RoBERTa with pad token
// 1, even if config.json names another pad token.
ModelDescription describe_mpnet(const JsonObject& json, const WeightStore& weights) {
  TransformerConfig config = read_bert_config(json, 30527);
  config.encoder.token_types = 0;
  number_as_fairseq(json, 1, config.encoder.positions);
  config.encoder.attention.relative_positions = {.buckets = 32, .max_distance = 128};
  json.expect("relative_attention_num_buckets", 32);
  set_language_model_activation(config.head);
  const std::string attention = "mpnet.encoder.layer.*.attention.";
  std::vector<NamePattern> own = roberta_head(json, config.head, "mpnet.");
  own.insert(own.end(), {{"encoder.*.self_attention.query", {attention + "attn.q"}},
                         {"encoder.*.self_attention.key", {attention + "attn.k"}},
                         {"encoder.*.self_attention.value", {attention + "attn.v"}},
                         {"encoder.*.self_attention.output", {attention + "attn.o"}},
                         {"encoder.*.self_attention.relative_position_bias", {"mpnet.encoder.relative_attention_bias"}},
                         {"encoder.*.self_attention_norm", {attention + "LayerNorm"}}});
  return {std::move(config), bert_weight_names("mpnet.", weights, std::move(own))};
}

// Returns the entries of pos_att_type, which is a list, or one string with "|" between entries.
std::vector<std::string> position_terms(const JsonObject& json) {
  std::vector<std::string> terms;
  for (const std::string& names : json.strings("pos_att_type")) {
    for (std::size_t begin = 0, end = 0; end != names.npos; begin = end + 1) {
      end = names.find('|', begin);
      terms.push_back(names.substr(begin, end - begin));
    }
  }
  for (const std::string& term : terms) {
    if (term != "c2p" && term != "p2c" && !term.empty()) {
      refuse<ConfigError>(json.file(), "pos_att_type '{}' is not supported, expected c2p or p2c", printable(term));
    }
  }
  return terms;
}

// Adds a centred convolution of the embeddings to the output of the first layer.
void convolve_embeddings(Dim kernel, Activation activation, StackConfig& config) {
  config.block = [kernel, activation](Block& block, Edge x) {
    const Edge y = block.add(x);
    if (block.number() > 0) return y;
    Stack& stack = block.stack();
    const Edge convolved = stack.graph().add<Convolution1d>(stack.weights() / "convolution", {x},
                                                            Convolution1dOptions{.input_width = stack.width(),
                                                                                 .output_width = stack.width(),
                                                                                 .kernel = kernel,
                                                                                 .padding = kernel / 2,
                                                                                 .activation = activation});
    return stack.norm("convolution_norm", {y, convolved});
  };
}

TransformerConfig read_deberta_config(const JsonObject& json) {
  const ConfigReader config(json);
  TransformerConfig result = read_encoder(
      config, {.missing_layers = 24, .missing_dim = 1536, .missing_heads = 24, .missing_hidden_dim = 6144}, 128'100);
  StackConfig& stack = result.encoder;
  const Dim positions = stack.positions.count;
  if (!config.flag("position_biased_input", true)) stack.positions = {.kind = PositionOptions::Kind::none};
  stack.norm.epsilon = config.epsilon("layer_norm_eps", 1e-7);
  stack.token_types = json.integer("type_vocab_size", {0, 1024}).value_or(0);
  result.head = read_classifier_head(json, config.activation("pooler_hidden_act", "gelu"));

  // Scores are divided by sqrt(K * terms). The first term is content to content. Content to position (c2p) and position
  // to content (p2c) are optional terms.
  const std::vector<std::string> position_names = position_terms(json);
  const bool scores_queries = std::ranges::count(position_names, "c2p") > 0;
  const bool scores_keys = std::ranges::count(position_names, "p2c") > 0;
  const Dim terms = 1 + (scores_queries ? 1 : 0) + (scores_keys ? 1 : 0);
  stack.attention.score_scale =
      static_cast<float>(1.0 / std::sqrt(static_cast<double>(stack.model_dim / stack.attention.heads * terms)));
  if (config.flag("relative_attention", false)) {
    const auto buckets = static_cast<int>(json.integer("position_buckets", {-1, 1 << 16}).value_or(-1));
    // With buckets, larger distances share embeddings on a logarithmic scale up to `distance`.
    // Without buckets, each distance has its own embedding.
    auto distance = static_cast<int>(json.integer("max_relative_positions", {-1, 1 << 16}).value_or(-1));
    if (distance < 1) distance = static_cast<int>(positions);
    DisentangledOptions& options = stack.attention.disentangled_positions;
    options = {.span = buckets > 0 ? buckets : distance,
               .max_distance = buckets > 0 ? distance : 0,
               .scores_keys = scores_keys,
               .scores_queries = scores_queries};
    if (json.string("norm_rel_ebd").value_or("none").find("layer_norm") != std::string::npos) {
      options.norm_epsilon = stack.norm.epsilon;
    }
  }
  if (const auto kernel = json.integer("conv_kernel_size", {0, 255}).value_or(0); kernel > 0) {
    if (kernel % 2 == 0) refuse<ConfigError>(json.file(), "conv_kernel_size {}, expected an odd number", kernel);
    convolve_embeddings(kernel, config.activation("conv_act", "tanh"), stack);
  }
  json.expect("conv_groups", 1);
  json.expect("embedding_size", stack.model_dim);
  return result;
}

ModelDescription describe_deberta(const JsonObject& json, const WeightStore& weights) {
  const std::string encoder = "deberta.encoder.", attention = encoder + "layer.*.attention.self.";
  // With share_att_key, the projections of queries and keys also project the embeddings of distances.
  const bool shares = ConfigReader(json).flag("share_att_key", false);
  return {read_deberta_config(json),
          bert_weight_names(
              "deberta.", weights,
              {{"head.dense", {"pooler.dense"}},
               {"head.output", {"classifier"}},
               {"encoder.convolution", {encoder + "conv.conv"}},
               {"encoder.convolution_norm", {encoder + "conv.LayerNorm"}},
               {"encoder.*.self_attention.query", {attention + "query_proj"}},
               {"encoder.*.self_attention.key", {attention + "key_proj"}},
               {"encoder.*.self_attention.value", {attention + "value_proj"}},
               {"encoder.*.self_attention.distance_embedding", {encoder + "rel_embeddings"}},
               {"encoder.*.self_attention.distance_embedding_norm", {encoder + "LayerNorm"}},
               {"encoder.*.self_attention.distance_key", {attention + (shares ? "key_proj" : "pos_key_proj")}},
               {"encoder.*.self_attention.distance_query", {attention + (shares ? "query_proj" : "pos_query_proj")}}})};
}

ModelDescription describe_distilbert(const JsonObject& json, const WeightStore& weights) {
  constexpr BertKeys kKeys = {"dim", "n_layers", "n_heads", "hidden_dim", "activation", 6};
  TransformerConfig config = read_encoder(ConfigReader(json), kKeys, 30522);
  config.head = read_head(json, {Activation::relu, config.encoder.activation}, config.encoder.vocabulary);
  const std::string layer = "distilbert.transformer.layer.*.";
  std::vector<NamePattern> own =
      head_names(json, config.head, {"pre_classifier", "classifier"},
                 {"vocab_transform", "vocab_projector", "vocab_layer_norm"}, "distilbert.embeddings.word_embeddings");
  own.insert(own.end(), {{"encoder.*.self_attention.query", {layer + "attention.q_lin"}},
                         {"encoder.*.self_attention.key", {layer + "attention.k_lin"}},
                         {"encoder.*.self_attention.value", {layer + "attention.v_lin"}},
                         {"encoder.*.self_attention.output", {layer + "attention.out_lin"}},
                         {"encoder.*.self_attention_norm", {layer + "sa_layer_norm"}},
                         {"encoder.*.feed_forward.expand", {layer + "ffn.lin1"}},
                         {"encoder.*.feed_forward.project", {layer + "ffn.lin2"}},
                         {"encoder.*.feed_forward_norm", {layer + "output_layer_norm"}}});
  return {std::move(config), bert_weight_names("distilbert.", weights, std::move(own))};
}

}  // namespace

std::vector<Family> bert_families() {
  return {{"albert", describe_albert},
          {"bert", describe_bert},
          {"camembert", describe_roberta},
          {"deberta-v2", describe_deberta},
          {"distilbert", describe_distilbert, {"vocab_"}},
          {"electra", describe_electra},
          {"mpnet", describe_mpnet},
          {"roberta", describe_roberta},
          {"xlm-roberta", describe_roberta}};
}

}  // namespace encdec
