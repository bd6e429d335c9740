// Models that CTranslate2 has converted (github.com/OpenNMT/CTranslate2, python/ctranslate2/specs): Transformers of any
// origin, and Whisper. The variables in model.bin determine the structure.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/tensor_layout.h"
#include "encdec/models/checkpoint/whisper_format.h"
#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/model_description.h"
#include "encdec/models/families/name_table.h"
#include "encdec/models/families/whisper.h"

namespace encdec {
namespace {

constexpr int kMaxSpecLayers = 1024;
constexpr int kGelu = 3;  // CTranslate2's number for GELU

// A kind of model. The limits are the same as in CTranslate2 4.8.
struct Specification {
  std::string_view name;
  Architecture architecture;
  std::int64_t last_revision;
  std::int64_t first_with_stacks;  // first revision with separate settings for encoder and decoder
  int heads;                       // default number of heads before revision 3
};

constexpr std::string_view kWhisper = "WhisperSpec";

constexpr std::array kSpecifications = {
    Specification{"", Architecture::encoder_decoder, 7, 5, 8},  // models before format version 2
    Specification{"TransformerBase", Architecture::encoder_decoder, 7, 5, 8},
    Specification{"TransformerBig", Architecture::encoder_decoder, 7, 5, 16},
    Specification{"TransformerSpec", Architecture::encoder_decoder, 7, 5, 0},
    Specification{"TransformerDecoderSpec", Architecture::decoder_only, 8, 2, 8},
    Specification{"TransformerEncoderSpec", Architecture::encoder_only, 1, 0, 8},
    Specification{kWhisper, Architecture::encoder_decoder, 3, 0, 0},
};

std::int64_t revision_of(const Checkpoint& checkpoint) {
  return checkpoint.settings.network->required_integer("spec_revision");
}

// Returns the model's specification. Throws UnsupportedModelError if its name or revision is not supported.
const Specification& find_specification(const Checkpoint& checkpoint) {
  const std::string name = checkpoint.settings.network->required_string("spec_name");
  const auto found = std::ranges::find(kSpecifications, name, &Specification::name);
  if (found == kSpecifications.end()) {
    refuse<UnsupportedModelError>(
        checkpoint.weights->origin(),
        "model specification '{}' is not supported, expected TransformerSpec, TransformerBase, "
        "TransformerBig, TransformerDecoderSpec, TransformerEncoderSpec or WhisperSpec",
        printable(name));
  }
  if (revision_of(checkpoint) > found->last_revision) {
    refuse<UnsupportedModelError>(checkpoint.weights->origin(),
                                  "revision {} of model specification '{}', expected at most {}",
                                  revision_of(checkpoint), found->name, found->last_revision);
  }
  return *found;
}

// Features that CTranslate2 supports but our graphs do not. A feature is recognised by parts of variable names. A
// setting with the neutral value has no effect, so it is accepted.
struct OtherFeatures {
  std::string_view expected;
  std::vector<std::string_view> parts;
  double neutral = 0;
};

const std::vector<OtherFeatures>& other_features() {
  constexpr std::string_view kPositions = "positions as encodings or as relative_attention_bias";
  static const std::vector<OtherFeatures> all = {
      {kPositions,
       {"alibi", "relative_asymmetric_position_keys", "relative_position_keys", "relative_position_values"}},
      {kPositions, {"rotary_dim"}, -1},
      {"one norm for each sub-layer, and none within",
       {"external_post_encoder_attention_layer_norm", "external_pre_encoder_attention_layer_norm", "input_layer_norm",
        "k_norm", "layer_norm_use_residual", "parallel_residual", "post_attention_layer_norm",
        "post_feedforward_layer_norm", "pre_feedforward_layer_norm", "pre_post_layer_norm", "q_norm",
        "shared_layer_norm", "v_norm"}},
      {"keys and values for each head, of all tokens", {"memory_kv", "multi_query", "sliding_window"}},
      {"embeddings as wide as the layers", {"project_in", "project_out"}},
      {"logits as they are", {"final_logit_softcapping"}},
      {"layers as they are", {"layer_scalar"}, 1},
  };
  return all;
}

class SpecReader {
 public:
  explicit SpecReader(const Checkpoint& checkpoint)
      : settings_(checkpoint.settings),
        weights_(*checkpoint.weights),
        specification_(find_specification(checkpoint)),
        revision_(revision_of(checkpoint)) {}

  TransformerConfig read() {
    refuse_other_features();
    if (specification_.name == kWhisper) return read_whisper();
    config_.model_type = "ctranslate2";
    config_.architecture = specification_.architecture;
    const std::string first = config_.has_encoder() ? "encoder" : "decoder";
    if (config_.has_encoder()) config_.encoder = read_stack("encoder");
    if (config_.has_decoder()) config_.decoder = read_stack("decoder");
    read_block(first);
    read_output();
    return config_;
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> message, Args&&... args) const {
    refuse<ConfigError>(weights_.origin(), message, std::forward<Args>(args)...);
  }

  // Returns a variable. Throws ConfigError if it is missing or has another rank.
  const Tensor& required(const std::string& name, int rank = 2) const {
    const Tensor* tensor = weights_.find(name);
    if (tensor == nullptr) fail("no variable '{}'", name);
    if (tensor->shape().rank() != rank) {
      fail("variable '{}' has shape {}, expected {}", name, to_string(tensor->shape()),
           rank == 2 ? "a matrix" : "three dimensions");
    }
    return *tensor;
  }

  bool has(const std::string& name) const { return weights_.find(name) != nullptr; }

  // Throws UnsupportedModelError if a part of a variable's name indicates an unsupported feature.
  void refuse_other_features() const {
    for (const auto& [name, tensor] : weights_.tensors()) {
      for (std::string_view rest = name; !rest.empty();) {
        const std::string_view part = rest.substr(0, rest.find('/'));
        rest.remove_prefix(std::min(part.size() + 1, rest.size()));
        const auto other = std::ranges::find_if(other_features(), [part](const OtherFeatures& features) {
          return std::ranges::find(features.parts, part) != features.parts.end();
        });
        if (other == other_features().end()) continue;
        const bool is_setting = rest.empty() && tensor.shape().rank() == 0;
        if (is_setting && scalar(weights_, name) == other->neutral) continue;
        refuse<UnsupportedModelError>(weights_.origin(), "'{}' is not supported, expected {}", printable(name),
                                      other->expected);
      }
    }
  }

  // Returns a stack's setting. Revisions before `first_with_stacks` may have one setting for the whole model instead.
  double setting(const std::string& stack, const std::string& name, double missing) const {
    auto value = scalar(weights_, stack + "/" + name);
    if (!value && revision_ < specification_.first_with_stacks) value = scalar(weights_, name);
    return value.value_or(missing);
  }

  // Returns a setting that must be equal in encoder and decoder.
  double common_setting(const std::string& name, double missing) const {
    const double value = setting(config_.has_encoder() ? "encoder" : "decoder", name, missing);
    if (config_.has_decoder() && setting("decoder", name, missing) != value) {
      fail("'decoder/{}' is {}, expected {} as in the encoder", name, setting("decoder", name, missing), value);
    }
    return value;
  }

  // Returns the name of a stack's embedding. The name has a number if source tokens have features.
  std::string embedding_of(const std::string& stack) const {
    const std::string numbered = stack + "/embeddings_0/weight", only = stack + "/embeddings/weight";
    return stack == "encoder" && !has(only) ? numbered : only;
  }

  // Returns the factor by which embeddings are multiplied. The variable is the factor, or a flag for sqrt(D).
  float embedding_scale(const std::string& stack, Dim model_dim) const {
    std::string name = stack + "/scale_embeddings";
    if (!has(name)) name = stack + "/embeddings/multiply_by_sqrt_depth";
    const Tensor* stored = weights_.find(name);
    const double value = scalar(weights_, name).value_or(1);
    const bool is_flag = stored == nullptr || !is_weight_type(stored->type());
    if (is_flag) return value != 0 ? std::sqrt(static_cast<float>(model_dim)) : 1.0f;
    return static_cast<float>(value);
  }

  int layers_of(const std::string& stack) const {
    int layers = 0;
    while (layers < kMaxSpecLayers && has(layer(stack, layers) + "self_attention/linear_0/weight")) ++layers;
    if (layers == 0) fail("no layers of the {}", stack);
    return layers;
  }

  int heads_of(const std::string& stack) const {
    const double heads = setting(stack, "num_heads", revision_ < 3 ? specification_.heads : 8);
    if (!(heads >= 1 && heads <= 1 << 20)) fail("'{}/num_heads' is {}, expected at least 1", stack, heads);
    return static_cast<int>(heads);
  }

  StackConfig read_stack(const std::string& name) {
    StackConfig stack;
    const Shape& embedding = required(embedding_of(name)).shape();
    stack.vocabulary = embedding[0];
    stack.layers = layers_of(name);
    stack.model_dim = embedding[1];
    stack.attention.heads = heads_of(name);
    stack.hidden_dim = required(layer(name, 0) + "ffn/linear_0/weight").shape()[0];
    stack.embedding_scale = embedding_scale(name, stack.model_dim);
    if (has(name + "/layernorm_embedding/gamma")) stack.embedding_norm = EmbeddingNorm::after_positions;
    if (name == "decoder") {
      stack.zero_start_token = scalar(weights_, "decoder/start_from_zero_embedding").value_or(0) != 0;
    }
    read_positions(name, stack);
    return stack;
  }

  static std::string layer(const std::string& stack, int number) { return fmt::format("{}/layer_{}/", stack, number); }

  // Determines the kind of positions: relative biases, a learned table, or sinusoids.
  void read_positions(const std::string& name, StackConfig& stack) const {
    const std::string attention = layer(name, 0) + "self_attention/";
    if (has(attention + "relative_attention_bias")) {
      stack.positions.kind = PositionOptions::Kind::none;
      RelativePositions& positions = stack.attention.relative_positions;
      positions.buckets = static_cast<int>(required(attention + "relative_attention_bias").shape()[0]);
      const double reach = scalar(weights_, attention + "relative_attention_max_distance").value_or(128);
      if (!(reach >= 1 && reach <= 1 << 16)) fail("relative_attention_max_distance is {}", reach);
      positions.max_distance = static_cast<int>(reach);
      positions.direction =
          name == "encoder" ? RelativePositions::Direction::both : RelativePositions::Direction::backward;
    } else if (has(name + "/position_encodings/encodings")) {
      const Tensor& table = required(name + "/position_encodings/encodings");
      stack.positions = {.kind = PositionOptions::Kind::learned, .count = table.shape()[0]};
    } else {
      // OpenNMT-tf's positions begin at 1.
      stack.positions = {.layout = SinusoidLayout::timing_signal, .offset = 1};
    }
  }

  // Reads, from the first layer of the stack `name`, the settings that are the same in all layers.
  void read_block(const std::string& name) {
    const std::string attention = layer(name, 0) + "self_attention/";
    const int heads = config_.input_stack().attention.heads;
    const Dim merged = required(attention + "linear_0/weight").shape()[0];
    if (merged % (Dim{3} * heads) != 0) {
      fail("'{}linear_0/weight' has {} rows, expected a multiple of 3 (query, key, value) * {} heads", attention,
           merged, heads);
    }
    // Read the order and the kind of the norms.
    StackConfig block;
    block.norm_order = common_setting("pre_norm", 1) != 0 ? NormOrder::first : NormOrder::last;
    for (const char* norm : {"encoder/layer_norm/gamma", "decoder/layer_norm/gamma"}) {
      if (block.norm_order == NormOrder::last && has(norm)) {
        fail("'{}', expected no norm at the end of a stack whose norms come last", norm);
      }
    }
    block.norm.kind = has(attention + "layer_norm/beta") ? NormKind::layer : NormKind::rms;
    block.norm.epsilon = block.norm.kind == NormKind::rms ? 1e-6f : 1e-5f;
    if (settings_.config) {
      block.norm.epsilon = ConfigReader(*settings_.config).epsilon("layer_norm_epsilon", block.norm.epsilon);
    }
    // The activations are in the order of CTranslate2's ActivationType.
    constexpr std::array kNumbered = {Activation::relu,   Activation::gelu_tanh,    Activation::silu,
                                      Activation::gelu,   Activation::gelu_sigmoid, Activation::tanh,
                                      Activation::sigmoid};
    const double activation = common_setting("activation", 0);
    if (!(activation >= 0 && activation < static_cast<double>(kNumbered.size()))) {
      fail("'activation' is {}, expected 0 to {}", activation, kNumbered.size() - 1);
    }
    for (StackConfig* stack : {&config_.encoder, &config_.decoder}) {
      stack->norm_order = block.norm_order;
      stack->norm = block.norm;
      stack->activation = kNumbered[static_cast<std::size_t>(activation)];
      stack->feed_forward =
          has(layer(name, 0) + "ffn/linear_0_noact/weight") ? FeedForwardKind::gated : FeedForwardKind::plain;
      stack->attention.head_dim = merged / 3 / heads;
      stack->attention.bias = has(attention + "linear_0/bias") ? Bias::required : Bias::none;
      stack->attention.score_scale = static_cast<float>(scalar(weights_, attention + "queries_scale").value_or(0));
    }
    if (name == "encoder" && has("encoder/embeddings_1/weight")) {
      // A second embedding is for features of source tokens (not supported) or BERT's token types.
      if (config_.has_decoder() || setting("encoder", "embeddings_merge", 0) == 0) {
        fail("'encoder/embeddings_1/weight': features of source tokens are not supported, expected tokens alone");
      }
      config_.encoder.token_types = required("encoder/embeddings_1/weight").shape()[0];
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

  // Reads a Whisper model. Only the decoder has variables for norm order and activation.
  TransformerConfig read_whisper() {
    config_ = whisper_config();
    StackConfig &encoder = config_.encoder, &decoder = config_.decoder;
    const Tensor& convolution = required("encoder/conv1/weight", 3);
    encoder.frames.width = convolution.shape()[1];
    decoder.vocabulary = required("decoder/embeddings/weight").shape()[0];
    for (const auto& [name, stack] : {std::pair("encoder", &encoder), {"decoder", &decoder}}) {
      stack->layers = layers_of(name);
      stack->model_dim = convolution.shape()[0];
      stack->attention.heads = heads_of(name);
      stack->hidden_dim = required(layer(name, 0) + "ffn/linear_0/weight").shape()[0];
      stack->positions.count = required(std::string(name) + "/position_encodings/encodings").shape()[0];
      if (stack->model_dim % stack->attention.heads != 0) {
        fail("{} heads do not divide the model dimension {}", stack->attention.heads, stack->model_dim);
      }
    }
    if (setting("decoder", "pre_norm", 1) == 0 || setting("decoder", "activation", kGelu) != kGelu) {
      fail("'decoder/pre_norm' is {} and 'decoder/activation' {}, expected 1 and {} as in the encoder",
           setting("decoder", "pre_norm", 1), setting("decoder", "activation", kGelu), kGelu);
    }
    decoder.embedding_scale = embedding_scale("decoder", decoder.model_dim);
    // The last text token is followed by the end token, then by the start token.
    if (const auto texts = whisper_text_tokens(decoder.vocabulary)) {
      config_.decoder_start_token = static_cast<std::int32_t>(*texts + 1);
    }
    return config_;
  }

  const CheckpointSettings& settings_;
  const WeightStore& weights_;
  const Specification& specification_;
  const std::int64_t revision_;
  TransformerConfig config_;
};

// Returns the stored names of the weights. In these names "/" separates the parts.
WeightNames names() {
  const std::string self = "%/layer_*/self_attention/", cross = "%/layer_*/attention/", ffn = "%/layer_*/ffn/";
  std::vector<NamePattern> table = {
      {"encoder.embedding", {"encoder/embeddings", "encoder/embeddings_0"}},
      {"encoder.convolution_1", {"encoder/conv1"}},
      {"encoder.convolution_2", {"encoder/conv2"}},
      {"encoder.token_type_embedding", {"encoder/embeddings_1"}},
      {"decoder.embedding", {"decoder/embeddings"}},
      {"output_projection", {"decoder/projection"}},
      {"%.positional_encoding.weight", {"%/position_encodings/encodings"}},
      // A layer without biases uses the biases of the first layer.
      {"%.*.self_attention.relative_position_bias.weight",
       {self + "relative_attention_bias", "%/layer_0/self_attention/relative_attention_bias"}},
      {"%.*.self_attention.query", {part_of(self + "linear_0", 0, 3)}},
      {"%.*.self_attention.key", {part_of(self + "linear_0", 1, 3)}},
      {"%.*.self_attention.value", {part_of(self + "linear_0", 2, 3)}},
      {"%.*.self_attention.output", {self + "linear_1"}},
      {"%.*.cross_attention.query", {cross + "linear_0"}},
      {"%.*.cross_attention.key", {part_of(cross + "linear_1", 0, 2)}},
      {"%.*.cross_attention.value", {part_of(cross + "linear_1", 1, 2)}},
      {"%.*.cross_attention.output", {cross + "linear_2"}},
      {"%.*.feed_forward.gate", {ffn + "linear_0"}},
      {"%.*.feed_forward.expand", {ffn + "linear_0_noact", ffn + "linear_0"}},
      {"%.*.feed_forward.project", {ffn + "linear_1"}},
  };
  const auto add_norm = [&](const std::string& canonical, const std::string& stored) {
    table.push_back({canonical + ".weight", {stored + "/gamma"}});
    table.push_back({canonical + ".bias", {stored + "/beta"}});
  };
  add_norm("%.*.self_attention_norm", self + "layer_norm");
  add_norm("%.*.cross_attention_norm", cross + "layer_norm");
  add_norm("%.*.feed_forward_norm", ffn + "layer_norm");
  add_norm("%.embedding_norm", "%/layernorm_embedding");
  add_norm("%.norm", "%/layer_norm");
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
