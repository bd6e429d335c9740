#include "encdec/models/model/sentence_embedder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ranges>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/engine/base/weights.h"
#include "encdec/engine/run_state.h"
#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/json.h"

namespace encdec {
namespace {

using Pooling = SentenceEmbedder::Pooling;

// The names of a pooling in the config.json of sentence-transformers' Pooling module.
struct PoolingName {
  std::string_view name;        // value of "pooling_mode"
  std::string_view older_flag;  // key of a boolean in older files
  Pooling pooling;
};

// The results of several poolings are concatenated in this order.
constexpr std::array<PoolingName, 6> kPoolings = {{
    {"cls", "pooling_mode_cls_token", Pooling::first_token},
    {"max", "pooling_mode_max_tokens", Pooling::max},
    {"mean", "pooling_mode_mean_tokens", Pooling::mean},
    {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", Pooling::mean_by_root_length},
    {"weightedmean", "pooling_mode_weightedmean_tokens", Pooling::weighted_mean},
    {"lasttoken", "pooling_mode_lasttoken", Pooling::last_token},
}};

// Upper bounds. A file with a larger value is assumed to be damaged.
constexpr std::int64_t kMaxLength = 1'000'000;
constexpr std::int64_t kMaxDenseWidth = 1 << 20;

struct Module {
  std::string kind;  // last part of the module's type, such as "Pooling"
  std::filesystem::path path;
};

// Returns the modules listed in modules.json, or no modules if there is no such file.
std::vector<Module> read_modules(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "modules.json";
  if (!file_exists(path)) return {};
  const std::string file = path.string();
  nlohmann::json list = read_json(path);
  if (!list.is_array()) refuse<ConfigError>(path.string(), "not a list of modules");
  std::vector<Module> modules;
  for (nlohmann::json& entry : list) {
    const JsonObject object(std::move(entry), file);
    std::string type = object.required_string("type");
    const std::string subfolder = object.string("path").value_or("");
    if (subfolder.find('/') != std::string::npos || subfolder == "..") {
      refuse<ConfigError>(path.string(), "module folder '{}', expected a bare name", printable(subfolder));
    }
    modules.push_back({type.substr(type.rfind('.') + 1), folder / subfolder});
  }
  return modules;
}

// Reads the poolings of a Pooling module: the names in "pooling_mode" or, without names, the older flags.
std::vector<Pooling> read_pooling(const JsonObject& config) {
  std::vector<Pooling> result;
  for (const std::string& mode : config.strings("pooling_mode")) {
    const auto known = std::ranges::find(kPoolings, mode, &PoolingName::name);
    if (known == kPoolings.end()) {
      refuse<ConfigError>(config.file(), "pooling_mode '{}' is not supported", printable(mode));
    }
    result.push_back(known->pooling);
  }
  if (!result.empty()) return result;
  for (const auto& [name, flag, pooling] : kPoolings) {
    if (config.boolean(flag).value_or(false)) result.push_back(pooling);
  }
  if (result.empty()) result.push_back(Pooling::mean);
  return result;
}

SparsePooling read_splade_pooling(const JsonObject& config) {
  // Returns whether the value of `key` is `second`; `first` is the default.
  const auto is_second = [&config](std::string_view key, std::string_view first, std::string_view second) {
    const std::string word = config.string(key).value_or(std::string(first));
    if (word != first && word != second) {
      refuse<ConfigError>(config.file(), "{} '{}' is not supported, expected {} or {}", key, printable(word), first,
                          second);
    }
    return word == second;
  };
  return {.is_sum = is_second("pooling_strategy", "max", "sum"),
          .log1p_count = is_second("activation_function", "relu", "log1p_relu") ? 2 : 1};
}

// Returns whether a module is the network. MLMTransformer has a masked language model's head.
bool is_transformer(const Module& module) {
  return module.kind == "Transformer" || module.kind == "MLMTransformer";
}

// Reads the activation of a Dense module: the name of a PyTorch class, by default Tanh.
Activation read_dense_activation(const JsonObject& config) {
  const std::string name = config.string("activation_function").value_or("torch.nn.modules.activation.Tanh");
  const std::string kind = name.substr(name.rfind('.') + 1);
  constexpr std::array kKnown = {Named{Activation::identity, "Identity"}, Named{Activation::tanh, "Tanh"},
                                 Named{Activation::relu, "ReLU"},         Named{Activation::gelu, "GELU"},
                                 Named{Activation::silu, "SiLU"},         Named{Activation::sigmoid, "Sigmoid"}};
  if (const auto known = value_named<Activation>(kKnown, kind)) return *known;
  refuse<ConfigError>(config.file(),
                      "activation_function '{}' is not supported, expected Identity, Tanh, ReLU, GELU, SiLU or Sigmoid",
                      printable(name));
}

double activate(Activation activation, double x) {
  switch (activation) {
    case Activation::relu: return std::max(x, 0.0);
    case Activation::gelu: return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
    case Activation::silu: return x / (1.0 + std::exp(-x));
    case Activation::tanh: return std::tanh(x);
    case Activation::sigmoid: return 1.0 / (1.0 + std::exp(-x));
    default: return x;
  }
}

// Appends the mean of the rows from `first` on. Row r has weight r + 1 for `weighted_mean`, and weight 1 for other
// poolings. The divisor is the sum of the weights or, for `mean_by_root_length`, the square root of this sum.
void add_mean(Pooling pooling, const Tensor& hidden, Dim first, std::vector<float>& output) {
  std::vector<double> sums(static_cast<std::size_t>(hidden.width()), 0.0);
  double total = 0;
  for (Dim r = first; r < hidden.rows(); ++r) {
    const double weight = pooling == Pooling::weighted_mean ? static_cast<double>(r + 1) : 1.0;
    total += weight;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += weight * static_cast<double>(hidden.row(r)[i]);
  }
  const double divisor = pooling == Pooling::mean_by_root_length ? std::sqrt(total) : total;
  for (const double sum : sums) output.push_back(static_cast<float>(sum / divisor));
}

void pool(Pooling pooling, const Tensor& hidden, Dim first, std::vector<float>& output) {
  const Dim width = hidden.width();
  switch (pooling) {
    case Pooling::first_token:
    case Pooling::last_token: {
      const float* row = hidden.row(pooling == Pooling::first_token ? first : hidden.rows() - 1);
      output.insert(output.end(), row, row + width);
      break;
    }
    case Pooling::max:
      for (Dim i = 0; i < width; ++i) {
        float largest = hidden.row(first)[i];
        for (Dim r = first + 1; r < hidden.rows(); ++r) largest = std::max(largest, hidden.row(r)[i]);
        output.push_back(largest);
      }
      break;
    case Pooling::mean:
    case Pooling::mean_by_root_length:
    case Pooling::weighted_mean: add_mean(pooling, hidden, first, output); break;
  }
}

std::span<const float> row_of(const Tensor& hidden, Dim row) {
  return {hidden.row(row), static_cast<std::size_t>(hidden.width())};
}

// Scales a vector to length 1. The bound 1e-12 avoids a division by 0, as in PyTorch's normalize().
void scale_to_length_1(std::span<float> embedding) {
  double squares = 0;
  for (const float x : embedding) squares += static_cast<double>(x) * x;
  const double length = std::max(std::sqrt(squares), 1e-12);
  for (float& x : embedding) x = static_cast<float>(x / length);
}

// Returns the maximum number of tokens that files in the Transformer's folder set, or 0 if there is no limit.
std::size_t read_max_length(const std::filesystem::path& folder) {
  const auto sentence_config = folder / "sentence_bert_config.json",
             tokenizer_config = folder / "tokenizer_config.json";
  if (file_exists(sentence_config)) {
    const JsonObject config = read_json_object(sentence_config);
    const auto limit = config.integer("max_seq_length", {1, kMaxLength});
    if (config.boolean("do_lower_case").value_or(false)) {
      refuse<ConfigError>(config.file(), "do_lower_case is not supported, expected false: the tokenizer's own setting");
    }
    if (limit) return static_cast<std::size_t>(*limit);
  }
  if (!file_exists(tokenizer_config)) return 0;
  // transformers stores 1e30 if there is no limit.
  const double limit = read_json_object(tokenizer_config).number("model_max_length").value_or(0);
  return limit >= 1 && limit <= kMaxLength ? static_cast<std::size_t>(limit) : 0;
}

}  // namespace

// Reads a Dense module. Its input and output must be the sentence's vector.
SentenceEmbedder::Dense SentenceEmbedder::read_dense(const std::filesystem::path& folder, Dim inputs) {
  const JsonObject config = read_json_object(folder / "config.json");
  for (const char* key : {"module_input_name", "module_output_name"}) {
    const std::string name = config.string(key).value_or("sentence_embedding");
    if (name != "sentence_embedding" && name != "scores") {
      refuse<ConfigError>(config.file(), "{} '{}' is not supported, expected sentence_embedding or scores", key,
                          printable(name));
    }
  }
  const Dim outputs = config.required_integer("out_features", {1, kMaxDenseWidth});
  const WeightScope all(open_checkpoint(folder).weights), weights = all / "linear";
  Dense dense{.weight = weights.tensor("weight", {outputs, inputs}), .bias = {}};
  if (config.boolean("bias").value_or(true)) dense.bias = weights.tensor("bias", {outputs});
  dense.activation = read_dense_activation(config);
  dense.adds_input = config.boolean("use_residual").value_or(false);
  if (dense.adds_input && outputs != inputs) dense.residual = (all / "residual").tensor("weight", {outputs, inputs});
  return dense;
}

void SentenceEmbedder::LayerNorm::apply(std::span<float> vector) const {
  // Compute mean and standard deviation in double precision; 1e-5 is PyTorch's default epsilon.
  const auto size = static_cast<double>(vector.size());
  double sum = 0, squares = 0;
  for (const float x : vector) sum += x;
  const double mean = sum / size;
  for (const float x : vector) squares += (x - mean) * (x - mean);
  const double deviation = std::sqrt(squares / size + 1e-5);
  for (std::size_t i = 0; i < vector.size(); ++i) {
    vector[i] = static_cast<float>((vector[i] - mean) / deviation * weight.data<float>()[i] + bias.data<float>()[i]);
  }
}

std::optional<SentenceEmbedder::Dense> SentenceEmbedder::read_torch_linear(const std::filesystem::path& file,
                                                                           Dim inputs, Dim outputs) {
  if (!file_exists(file)) return std::nullopt;
  const auto store = read_torch_tensors(file);
  if (const Tensor* stored = store->find("weight"); outputs == 0 && stored != nullptr && stored->shape().rank() == 2) {
    outputs = std::max<Dim>(stored->rows(), 1);
  }
  const WeightScope weights(store);
  return Dense{.weight = weights.tensor("weight", {outputs, inputs}), .bias = weights.tensor("bias", {outputs})};
}

void SentenceEmbedder::Dense::apply(std::span<const float> input, std::vector<float>& output) const {
  const auto added = [&](Dim n) {
    if (!adds_input) return 0.0;
    if (residual.empty()) return static_cast<double>(input[static_cast<std::size_t>(n)]);
    return std::inner_product(input.begin(), input.end(), residual.row(n), 0.0, std::plus(), std::multiplies<double>());
  };
  constexpr Dim kAtOnce = 8;  // number of independent accumulators, which hide the latency of additions
  for (Dim first = 0; first < weight.rows(); first += kAtOnce) {
    const Dim count = std::min(kAtOnce, weight.rows() - first);
    std::array<double, kAtOnce> sums = {};
    for (Dim n = 0; n < count && !bias.empty(); ++n) sums[n] = static_cast<double>(bias.data<float>()[first + n]);
    for (std::size_t k = 0; k < input.size(); ++k) {
      for (Dim n = 0; n < count; ++n) sums[n] += static_cast<double>(input[k]) * weight.row(first + n)[k];
    }
    for (Dim n = 0; n < count; ++n) {
      output.push_back(static_cast<float>(activate(activation, sums[n]) + added(first + n)));
    }
  }
}

SentenceEmbedder SentenceEmbedder::read(const std::filesystem::path& folder, Dim model_dim) {
  // Read BGE-M3's linear maps, which are not in modules.json.
  SentenceEmbedder embedder;
  embedder.folder_ = folder;
  embedder.width_ = model_dim;
  embedder.lexical_ = read_torch_linear(folder / "sparse_linear.pt", model_dim, 1);
  if (const auto linear = read_torch_linear(folder / "colbert_linear.pt", model_dim, 0)) {
    embedder.colbert_ =
        std::make_shared<const MatMul>(std::array{WeightMatrix(linear->weight)}, std::array{linear->bias});
  }
  const std::vector<Module> modules = read_modules(folder);
  if (modules.empty()) {
    embedder.max_length_ = read_max_length(folder);
    return embedder;
  }
  // Read the modules in their order: the Transformer, one pooling, then maps of the pooled vector.
  embedder.has_modules_ = true;
  embedder.read_prompts(folder / "config_sentence_transformers.json");
  bool pooled = false;
  for (const Module& module : modules) {
    const auto& [kind, path] = module;
    if (is_transformer(module)) {
      embedder.max_length_ = read_max_length(path);
    } else if (kind == "SpladePooling" && !pooled) {
      embedder.splade_ = read_splade_pooling(read_json_object(path / "config.json"));
      pooled = true;
    } else if (kind == "Pooling" && !pooled) {
      const JsonObject config = read_json_object(path / "config.json");
      embedder.pools_prompts_ = config.boolean("include_prompt").value_or(true);
      embedder.pooling_ = read_pooling(config);
      embedder.width_ *= static_cast<Dim>(embedder.pooling_.size());
      pooled = true;
    } else if (kind == "Dense" && pooled && !embedder.splade_) {
      const Dense& dense = std::get<Dense>(embedder.steps_.emplace_back(read_dense(path, embedder.width_)));
      embedder.width_ = dense.weight.rows();
    } else if (kind == "LayerNorm" && pooled && !embedder.splade_) {
      const WeightScope norm = WeightScope(open_checkpoint(path).weights) / "norm";
      embedder.steps_.push_back(
          LayerNorm{norm.tensor("weight", {embedder.width_}), norm.tensor("bias", {embedder.width_})});
    } else if (kind == "Normalize" && pooled && !embedder.splade_) {
      embedder.steps_.push_back(Normalize());
    } else if (kind != "Dropout") {
      refuse<ConfigError>((folder / "modules.json").string(),
                          "module '{}' is not supported here, expected Transformer, then SpladePooling or Pooling, "
                          "Dense, LayerNorm and Normalize",
                          printable(kind));
    }
  }
  embedder.is_cross_encoder_ = embedder.is_cross_encoder_ && pooled && !embedder.splade_;
  return embedder;
}

// Reads config_sentence_transformers.json: the prompts, and whether this is a CrossEncoder.
void SentenceEmbedder::read_prompts(const std::filesystem::path& path) {
  if (!file_exists(path)) return;
  const JsonObject config = read_json_object(path);
  if (const auto prompts = config.object("prompts")) {
    for (const auto& [name, text] : prompts->value().items()) prompts_[name] = prompts->string(name).value_or("");
  }
  is_cross_encoder_ = config.string("model_type") == "CrossEncoder";
  const auto name = config.string("default_prompt_name");
  if (name) default_prompt_ = config.required_object("prompts").required_string(*name);
}

Dim SentenceEmbedder::rows_left_out(const Tokenizer* tokenizer, const std::string& prompt) const {
  if (pools_prompts_ || prompt.empty() || tokenizer == nullptr) return 0;
  // Tokenize the prompt alone, and do not count the special token at the end, which is not between prompt and text.
  const TokenIds tokens = tokenizer->encode(prompt), special = tokenizer->encode("");
  const bool ends_special = !special.empty() && !tokens.empty() && tokens.back() == special.back();
  return std::ssize(tokens) - (ends_special ? 1 : 0);
}

std::string SentenceEmbedder::prompt(const std::optional<std::string>& text,
                                     const std::optional<std::string>& name) const {
  if (text) return *text;
  if (!name) return default_prompt_;
  if (const auto found = prompts_.find(*name); found != prompts_.end()) return found->second;
  refuse<ConfigError>(folder_.string(), "prompt '{}' is not known, expected one of [{}]", printable(*name),
                      fmt::join(prompts_ | std::views::keys, ", "));
}

bool SentenceEmbedder::gives(EmbedOutput output, const TransformerConfig& config) const {
  switch (output) {
    case EmbedOutput::sparse: return config.head.kind == HeadKind::vocabulary || lexical_;
    case EmbedOutput::colbert: return colbert_ != nullptr;
    default: return !splade_ && !is_cross_encoder_;
  }
}

void SentenceEmbedder::expect(EmbedOutput output, const TransformerConfig& config) const {
  if (gives(output, config)) return;
  refuse<ConfigError>(folder_.string(), "no {} vectors, expected a model with {}", name_of(kEmbedOutputNames, output),
                      output == EmbedOutput::sparse
                          ? "SpladePooling, sparse_linear.pt or the head of a masked language model (ForMaskedLM)"
                      : output == EmbedOutput::colbert ? "colbert_linear.pt"
                                                       : "Pooling that is neither SpladePooling nor of a CrossEncoder");
}

std::map<std::int32_t, float> SentenceEmbedder::lexical_weights(const TokenIds& ids, const Tensor& hidden) const {
  std::map<std::int32_t, float> weights;
  std::vector<float> weight;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    weight.clear();
    lexical_->apply(row_of(hidden, static_cast<Dim>(i)), weight);
    if (weight[0] > 0) weights[ids[i]] = std::max(weights[ids[i]], weight[0]);
  }
  return weights;
}

std::vector<float> SentenceEmbedder::colbert(const Tensor& hidden) const {
  const auto width = static_cast<std::size_t>(colbert_width());
  std::vector<float> vectors(static_cast<std::size_t>(hidden.rows() - 1) * width);
  if (vectors.empty()) return vectors;
  RunState state(Graph("colbert"));
  Tensor output(vectors.data(), DataType::float32, {hidden.rows() - 1, colbert_width()});
  colbert_->forward(hidden.slice(1, hidden.rows() - 1), nullptr, output, state);
  for (std::size_t first = 0; first < vectors.size(); first += width) {
    scale_to_length_1(std::span(vectors).subspan(first, width));
  }
  return vectors;
}

std::filesystem::path SentenceEmbedder::transformer_folder(const std::filesystem::path& folder) {
  for (const Module& module : read_modules(folder)) {
    if (is_transformer(module)) return module.path;
  }
  return folder;
}

std::vector<float> SentenceEmbedder::embed(const Tensor& hidden, Dim left_out, int dimensions, bool normalize) const {
  std::vector<float> embedding;
  const Dim first = std::min(left_out, hidden.rows() - 1);  // at least one row is pooled
  for (const Pooling pooling : pooling_) pool(pooling, hidden, first, embedding);
  for (const auto& step : steps_) {
    if (const auto* dense = std::get_if<Dense>(&step)) {
      dense->apply(std::exchange(embedding, {}), embedding);
    } else if (const auto* norm = std::get_if<LayerNorm>(&step)) {
      norm->apply(embedding);
    } else {
      scale_to_length_1(embedding);
    }
  }
  if (dimensions > 0) embedding.resize(std::min(embedding.size(), static_cast<std::size_t>(dimensions)));
  if (normalize) scale_to_length_1(embedding);
  return embedding;
}

}  // namespace encdec
