// Folders that CTranslate2 has converted (github.com/OpenNMT/CTranslate2, python/ctranslate2/specs): Transformers of
// any origin, whose structure follows from the variables that the model.bin has.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/stored_values.h"
#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/model_description.h"
#include "encdec/models/families/name_table.h"

namespace encdec {
namespace {

constexpr int kMaxSpecLayers = 1024;

class SpecReader {
 public:
  explicit SpecReader(const Checkpoint& checkpoint) : checkpoint_(checkpoint), weights_(*checkpoint.weights) {}

  TransformerConfig read() {
    const std::string& spec = checkpoint_.spec_name;
    const std::array<std::pair<std::string_view, Architecture>, 3> known = {
        {{"TransformerSpec", Architecture::encoder_decoder},
         {"TransformerDecoderSpec", Architecture::decoder_only},
         {"TransformerEncoderSpec", Architecture::encoder_only}}};
    const auto found = std::ranges::find(known, spec, &std::pair<std::string_view, Architecture>::first);
    if (found == known.end()) {
      throw UnsupportedModelError(
          fmt::format("{}: model specification '{}' is not supported, expected TransformerSpec, TransformerDecoderSpec "
                      "or TransformerEncoderSpec",
                      weights_.origin(), printable(spec)));
    }
    config_.model_type = "ctranslate2";
    config_.architecture = found->second;
    const std::string first = config_.has_encoder() ? "encoder" : "decoder";
    config_.model_dim = required(embedding_of(first)).shape().last();
    if (config_.has_encoder()) config_.encoder = read_stack("encoder");
    if (config_.has_decoder()) config_.decoder = read_stack("decoder");
    read_block(first);
    read_output();
    return config_;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw ConfigError(fmt::format("{}: {}", weights_.origin(), message));
  }

  const Tensor& required(const std::string& name) const {
    const Tensor* tensor = weights_.find(name);
    if (tensor == nullptr) fail(fmt::format("no variable '{}'", name));
    if (tensor->shape().rank() != 2) {
      fail(fmt::format("variable '{}' has shape {}, expected a matrix", name, to_string(tensor->shape())));
    }
    return *tensor;
  }

  bool flag(const std::string& name) const { return scalar(weights_, name).value_or(0) != 0; }
  bool has(const std::string& name) const { return weights_.find(name) != nullptr; }

  std::string embedding_of(const std::string& stack) const {
    return stack + (stack == "encoder" ? "/embeddings_0/weight" : "/embeddings/weight");
  }

  // The attribute is a flag, or the scale itself; where it is missing the embeddings are scaled.
  float embedding_scale(const std::string& stack) const {
    const std::string name = stack + "/scale_embeddings";
    const Tensor* stored = weights_.find(name);
    const double value = scalar(weights_, name).value_or(1);
    const bool is_flag = stored == nullptr || !is_weight_type(stored->type());
    if (is_flag) return value != 0 ? std::sqrt(static_cast<float>(config_.model_dim)) : 1.0f;
    return static_cast<float>(value);
  }

  StackConfig read_stack(const std::string& name) {
    for (const char* feature : {"alibi", "parallel_residual", "pre_post_layer_norm", "sliding_window"}) {
      if (flag(name + "/" + feature)) fail(fmt::format("'{}/{}' is not supported", name, feature));
    }
    StackConfig stack;
    stack.vocabulary = required(embedding_of(name)).shape()[0];
    while (stack.layers < kMaxSpecLayers && has(layer(name, stack.layers) + "self_attention/linear_0/weight")) {
      ++stack.layers;
    }
    if (stack.layers == 0) fail(fmt::format("no layers of the {}", name));
    const double heads = scalar(weights_, name + "/num_heads").value_or(8);
    if (!(heads >= 1 && heads <= 1 << 20)) fail(fmt::format("'{}/num_heads' is {}, expected at least 1", name, heads));
    stack.heads = static_cast<int>(heads);
    stack.hidden_dim = required(layer(name, 0) + "ffn/linear_0/weight").shape()[0];
    stack.embedding_scale = embedding_scale(name);
    if (has(name + "/layernorm_embedding/gamma")) stack.embedding_norm = EmbeddingNorm::after_positions;
    if (name == "decoder") stack.zero_start_token = flag("decoder/start_from_zero_embedding");
    read_positions(name, stack);
    return stack;
  }

  static std::string layer(const std::string& stack, int number) { return fmt::format("{}/layer_{}/", stack, number); }

  void read_positions(const std::string& name, StackConfig& stack) const {
    const std::string attention = layer(name, 0) + "self_attention/";
    if (has(attention + "rotary_dim")) fail(fmt::format("'{}rotary_dim' is not supported", attention));
    if (has(name + "/position_encodings/encodings")) {
      const Tensor& table = required(name + "/position_encodings/encodings");
      stack.positions = {.kind = PositionOptions::Kind::learned, .positions = table.shape()[0]};
    } else if (has(attention + "relative_attention_bias")) {
      stack.positions.kind = PositionOptions::Kind::none;
      RelativePositions& positions = stack.relative_positions;
      positions.buckets = static_cast<int>(required(attention + "relative_attention_bias").shape()[0]);
      const double reach = scalar(weights_, attention + "relative_attention_max_distance").value_or(128);
      if (!(reach >= 1 && reach <= 1 << 16)) fail(fmt::format("relative_attention_max_distance is {}", reach));
      positions.max_distance = static_cast<int>(reach);
      positions.direction =
          name == "encoder" ? RelativePositions::Direction::both : RelativePositions::Direction::backward;
    } else {
      fail(fmt::format("'{}/position_encodings/encodings' is missing, expected a table of positions", name));
    }
  }

  // What all layers have in common.
  void read_block(const std::string& stack) {
    const std::string attention = layer(stack, 0) + "self_attention/";
    const StackConfig& sizes = config_.input_stack();
    const Dim merged = required(attention + "linear_0/weight").shape()[0];
    if (merged % (3 * sizes.heads) != 0) {
      fail(fmt::format("'{}linear_0/weight' has {} rows, expected those of query, key and value of {} heads", attention,
                       merged, sizes.heads));
    }
    config_.head_dim = merged / 3 / sizes.heads;
    config_.norm_order = flag(stack + "/pre_norm") ? NormOrder::first : NormOrder::last;
    config_.norm = has(attention + "layer_norm/beta") ? NormKind::layer : NormKind::rms;
    config_.norm_epsilon = config_.norm == NormKind::rms ? 1e-6f : 1e-5f;
    if (checkpoint_.config) {
      config_.norm_epsilon = ConfigReader(*checkpoint_.config).epsilon("layer_norm_epsilon", config_.norm_epsilon);
    }
    config_.bias = has(attention + "linear_0/bias") ? Bias::required : Bias::none;
    config_.feed_forward =
        has(layer(stack, 0) + "ffn/linear_0_noact/weight") ? FeedForwardKind::gated : FeedForwardKind::plain;
    constexpr std::array kActivations = {Activation::relu,   Activation::gelu_tanh,    Activation::silu,
                                         Activation::gelu,   Activation::gelu_sigmoid, Activation::tanh,
                                         Activation::sigmoid};
    const double activation = scalar(weights_, stack + "/activation").value_or(0);
    if (!(activation >= 0 && activation < static_cast<double>(kActivations.size()))) {
      fail(fmt::format("'{}/activation' is {}, expected 0 to {}", stack, activation, kActivations.size() - 1));
    }
    config_.activation = kActivations[static_cast<std::size_t>(activation)];
    config_.score_scale = static_cast<float>(scalar(weights_, attention + "queries_scale").value_or(0));
    if (stack == "encoder" && has("encoder/embeddings_1/weight")) {
      if (!flag("encoder/embeddings_merge")) fail("embeddings side by side are not supported, expected their sum");
      config_.token_types = required("encoder/embeddings_1/weight").shape()[0];
    }
  }

  void read_output() {
    if (!config_.has_decoder()) return;
    config_.logits_scale = static_cast<float>(scalar(weights_, "decoder/scale_outputs").value_or(1));
    if (config_.logits_scale == 0.0f) config_.logits_scale = 1.0f;
    if (config_.decoder.zero_start_token) {
      config_.decoder_start_token = static_cast<std::int32_t>(config_.decoder.vocabulary);
    }
  }

  const Checkpoint& checkpoint_;
  const WeightStore& weights_;
  TransformerConfig config_;
};

std::vector<StoredName> merged(const std::string& name, int part, int parts) {
  StoredName stored(name);
  stored.part = part;
  stored.parts = parts;
  return {stored};
}

WeightNames names() {
  std::vector<NamePattern> table = {
      {"encoder.embedding", {"encoder/embeddings_0"}},
      {"encoder.token_type_embedding", {"encoder/embeddings_1"}},
      {"decoder.embedding", {"decoder/embeddings"}},
      {"output_projection", {"decoder/projection"}},
  };
  const auto add_norm = [&](const std::string& canonical, const std::string& stored) {
    table.push_back({canonical + ".weight", {stored + "/gamma"}});
    table.push_back({canonical + ".bias", {stored + "/beta"}});
  };
  for (const std::string stack : {"encoder", "decoder"}) {
    const std::string layer = stack + ".*.", stored = stack + "/layer_*/";
    const std::string self = stored + "self_attention/", ffn = stored + "ffn/";
    // The biases of the first layer are those of all layers.
    const std::string bias = stack + "/layer_0/self_attention/relative_attention_bias";
    table.push_back({stack + ".positional_encoding.weight", {stack + "/position_encodings/encodings"}});
    table.push_back({layer + "self_attention.relative_position_bias.weight", {self + "relative_attention_bias", bias}});
    table.push_back({layer + "self_attention.query", merged(self + "linear_0", 0, 3)});
    table.push_back({layer + "self_attention.key", merged(self + "linear_0", 1, 3)});
    table.push_back({layer + "self_attention.value", merged(self + "linear_0", 2, 3)});
    table.push_back({layer + "self_attention.output", {self + "linear_1"}});
    table.push_back({layer + "feed_forward.gate", {ffn + "linear_0"}});
    table.push_back({layer + "feed_forward.expand", {ffn + "linear_0_noact", ffn + "linear_0"}});
    table.push_back({layer + "feed_forward.project", {ffn + "linear_1"}});
    add_norm(layer + "self_attention_norm", stored + "self_attention/layer_norm");
    add_norm(layer + "feed_forward_norm", stored + "ffn/layer_norm");
    add_norm(stack + ".embedding_norm", stack + "/layernorm_embedding");
    add_norm(stack + ".norm", stack + "/layer_norm");
  }
  const std::string cross = "decoder/layer_*/attention/";
  table.push_back({"decoder.*.cross_attention.query", {cross + "linear_0"}});
  table.push_back({"decoder.*.cross_attention.key", merged(cross + "linear_1", 0, 2)});
  table.push_back({"decoder.*.cross_attention.value", merged(cross + "linear_1", 1, 2)});
  table.push_back({"decoder.*.cross_attention.output", {cross + "linear_2"}});
  add_norm("decoder.*.cross_attention_norm", cross + "layer_norm");
  return [by_table = names_by_table(std::move(table))](const std::string& canonical) {
    std::vector<StoredName> candidates = by_table(canonical);
    for (StoredName& stored : candidates) std::ranges::replace(stored.name, '.', '/');
    return candidates;
  };
}

}  // namespace

ModelDescription describe_ctranslate2(const Checkpoint& checkpoint) {
  return {SpecReader(checkpoint).read(), names()};
}

}  // namespace encdec
