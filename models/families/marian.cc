// Models in Marian's own formats (Junczys-Dowmunt et al. 2018; marian-dev, src/models/transformer.h and
// src/rnn/cells.h): the .npz files of OPUS-MT, and the .bin files of Firefox Translations, which contain student models
// (Kim et al. 2019). The models that transformers calls "marian" are in bart.cc.
#include <cmath>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/layers/transformer/simple_recurrent_unit.h"
#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/model_description.h"
#include "encdec/models/families/name_table.h"
#include "encdec/models/network/blocks.h"

namespace encdec {
namespace {

// Throws ConfigError unless an option has the expected value. A missing option counts as empty.
void expect(const JsonObject& options, const std::string& key, const std::string& expected) {
  const std::string found = options.string(key).value_or("");
  if (found != expected) {
    refuse<ConfigError>(options.file(), "{} '{}' is not supported, expected '{}'", key, printable(found), expected);
  }
}

// Returns the activation of the feed-forward networks. Marian's gelu is the sigmoid approximation.
Activation read_marian_activation(const JsonObject& options) {
  const std::string name = options.string("transformer-ffn-activation").value_or("swish");
  if (name == "relu") return Activation::relu;
  if (name == "swish") return Activation::silu;
  if (name == "gelu") return Activation::gelu_sigmoid;
  refuse<ConfigError>(options.file(), "transformer-ffn-activation '{}' is not supported, expected relu, swish or gelu",
                      printable(name));
}

// Returns the order of norms. In Marian's settings, "d" means dropout, "a" means add, and "n" means norm. If norms are
// last, postprocess is "dan". If norms are first, preprocess is "n" and postprocess is "da".
NormOrder read_norm_order(const JsonObject& options) {
  const bool first = options.string("transformer-preprocess").value_or("") == "n";
  expect(options, "transformer-preprocess", first ? "n" : "");
  expect(options, "transformer-postprocess", first ? "da" : "dan");
  expect(options, "transformer-postprocess-top", first ? "n" : "");
  return first ? NormOrder::first : NormOrder::last;
}

// Epsilon of Marian's layer norm (src/models/transformer.h, layerNorm).
constexpr float kEpsilon = 1e-6f;

// Adds a decoder block of a student model, in which a recurrent unit replaces self-attention. The cache contains the
// unit's state in place of keys and values.
Edge recurrent_block(Block& block, Edge x) {
  const Edge y = block.with_residual("recurrent_unit_norm", x, [&](Edge z, std::optional<Edge> residual) {
    const SimpleRecurrentUnitOptions options{.model_dim = block.stack().width(), .residual = residual_of(residual)};
    return block.layer<SimpleRecurrentUnit>("recurrent_unit", inputs_of(z, residual), options);
  });
  return block.feed_forward(block.cross_attention(y));
}

TransformerConfig read_options(const JsonObject& options) {
  expect(options, "type", "transformer");
  const bool is_recurrent = options.string("transformer-decoder-autoreg").value_or("") == "rnn";
  expect(options, "transformer-decoder-autoreg", is_recurrent ? "rnn" : "self-attention");
  if (is_recurrent) expect(options, "dec-cell", "ssru");
  const ConfigReader reader(options);
  if (reader.flag("transformer-no-projection", false) || reader.width("transformer-ffn-depth", 2) != 2 ||
      !options.integers("transformer-tied-layers").empty()) {
    refuse<ConfigError>(options.file(),
                        "transformer-no-projection, transformer-tied-layers and transformer-ffn-depth other "
                        "than 2 are not supported");
  }
  const auto vocabularies = options.integers("dim-vocabs", {1, 10'000'000});
  if (vocabularies.size() != 2) {
    refuse<ConfigError>(options.file(), "dim-vocabs has {} sizes, expected 2", vocabularies.size());
  }
  TransformerConfig config;
  // Read the settings that are the same in both stacks.
  config.model_type = "marian";
  StackConfig stack{.positions = {.layout = SinusoidLayout::timing_signal}};
  stack.layers = reader.layers("enc-depth", 6);
  stack.model_dim = reader.width("dim-emb", 512);
  stack.attention.heads = reader.heads("transformer-heads", 8, stack.model_dim);
  stack.hidden_dim = reader.width("transformer-dim-ffn", 2048);
  stack.embedding_scale = std::sqrt(static_cast<float>(stack.model_dim));
  const std::string after_embedding = options.string("transformer-postprocess-emb").value_or("d");
  if (after_embedding.find('n') != std::string::npos) stack.embedding_norm = EmbeddingNorm::after_positions;
  if (reader.flag("transformer-train-position-embeddings", false)) {
    stack.positions = {.kind = PositionOptions::Kind::learned, .count = reader.width("max-length", 512)};
  }
  stack.norm.epsilon = kEpsilon;
  stack.activation = read_marian_activation(options);
  stack.norm_order = read_norm_order(options);
  config.encoder = config.decoder = stack;
  config.encoder.vocabulary = vocabularies[0];
  config.decoder.vocabulary = vocabularies[1];
  config.decoder.layers = reader.layers("dec-depth", 6);
  config.decoder.zero_start_token = true;
  config.decoder_start_token = static_cast<std::int32_t>(config.decoder.vocabulary);
  if (is_recurrent) {
    config.decoder.block = recurrent_block;
    config.decoder.is_recurrent = true;
    config.alignment_head = 0;  // guided alignment has trained head 0 of students
  }
  return config;
}

// Returns `names`, but does not transpose quantised matrices, because parse_marian_binary() returns these as [out, in].
WeightNames with_stored_order(std::shared_ptr<const WeightStore> weights, WeightNames names) {
  return [weights = std::move(weights), names = std::move(names)](const std::string& canonical) {
    std::vector<StoredName> candidates = names(canonical);
    for (StoredName& stored : candidates) {
      if (weights->find_scale(stored.name) != nullptr) stored.transposed = false;
    }
    return candidates;
  };
}

WeightNames weight_names() {
  // % means encoder or decoder, * means the layer's number, and *+1 means that number plus 1; see NamePattern.
  std::vector<NamePattern> table = {
      {"%.embedding.weight", {"%_Wemb", "Wemb"}},
      {"%.positional_encoding.weight", {"Wpos"}},
      {"output_projection.weight",
       {transposed("decoder_ff_logit_out_W"), "decoder_ff_logit_out_Wt", "decoder_Wemb", "Wemb"}},
      {"output_projection.bias", {"decoder_ff_logit_out_b"}},
  };
  const auto add_linear = [&](const std::string& canonical, const std::string& stored, const std::string& letter) {
    table.push_back({canonical + ".weight", {transposed(stored + "_W" + letter)}});
    table.push_back({canonical + ".bias", {stored + "_b" + letter}});
  };
  const auto add_norm = [&](const std::string& canonical, const std::string& stored) {
    table.push_back({canonical + ".weight", {stored + "_ln_scale_pre", stored + "_ln_scale"}});
    table.push_back({canonical + ".bias", {stored + "_ln_bias_pre", stored + "_ln_bias"}});
  };
  const auto add_attention = [&](const std::string& canonical, const std::string& stored) {
    add_linear(canonical + ".query", stored, "q");
    add_linear(canonical + ".key", stored, "k");
    add_linear(canonical + ".value", stored, "v");
    add_linear(canonical + ".output", stored, "o");
    add_norm(canonical + "_norm", stored + "_Wo");
  };
  add_attention("%.*.self_attention", "%_l*+1_self");
  add_attention("%.*.cross_attention", "%_l*+1_context");
  table.push_back({"%.*.recurrent_unit.candidate.weight", {transposed("%_l*+1_rnn_W")}});
  add_linear("%.*.recurrent_unit.forget_gate", "%_l*+1_rnn", "f");
  add_norm("%.*.recurrent_unit_norm", "%_l*+1_rnn_ffn");
  add_linear("%.*.feed_forward.expand", "%_l*+1_ffn", "1");
  add_linear("%.*.feed_forward.project", "%_l*+1_ffn", "2");
  add_norm("%.*.feed_forward_norm", "%_l*+1_ffn_ffn");
  add_norm("%.norm", "%_top");
  add_norm("%.embedding_norm", "%_emb");
  return names_by_table(std::move(table));
}

}  // namespace

ModelDescription describe_marian(const Checkpoint& checkpoint) {
  if (!checkpoint.settings.network) {
    refuse<ConfigError>(checkpoint.weights->origin(),
                        "no array 'special:model.yml', expected the settings of a Marian model");
  }
  return {read_options(*checkpoint.settings.network), with_stored_order(checkpoint.weights, weight_names())};
}

}  // namespace encdec
