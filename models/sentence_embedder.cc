#include "encdec/models/sentence_embedder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/checkpoint/file_names.h"

namespace encdec {
namespace {

using Pooling = SentenceEmbedder::Pooling;

struct PoolingName {
  std::string_view name;        // in pooling_mode
  std::string_view older_flag;  // a key of its own
  Pooling pooling;
};

// In the order in which several are put side by side.
constexpr std::array<PoolingName, 6> kPoolings = {{
    {"cls", "pooling_mode_cls_token", Pooling::first_token},
    {"max", "pooling_mode_max_tokens", Pooling::max},
    {"mean", "pooling_mode_mean_tokens", Pooling::mean},
    {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", Pooling::mean_by_root_length},
    {"weightedmean", "pooling_mode_weightedmean_tokens", Pooling::weighted_mean},
    {"lasttoken", "pooling_mode_lasttoken", Pooling::last_token},
}};

constexpr std::int64_t kMaxLength = 1'000'000;
constexpr std::int64_t kMaxDenseWidth = 1 << 20;

struct Module {
  std::string kind;  // the last part of its type: "Pooling"
  std::filesystem::path path;
};

// Empty where there is no modules.json.
std::vector<Module> read_modules(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "modules.json";
  if (!is_there(path)) return {};
  const nlohmann::json list = read_json(path);
  if (!list.is_array()) throw ConfigError(fmt::format("{}: not a list of modules", path.string()));
  std::vector<Module> modules;
  for (const nlohmann::json& entry : list) {
    const JsonObject object(entry, path.string());
    std::string type = object.required_string("type");
    const std::string subfolder = object.string("path").value_or("");
    if (subfolder.find('/') != std::string::npos || subfolder == "..") {
      throw ConfigError(
          fmt::format("{}: module folder '{}', expected a bare name", path.string(), printable(subfolder)));
    }
    modules.push_back({type.substr(type.rfind('.') + 1), folder / subfolder});
  }
  return modules;
}

std::vector<Pooling> read_pooling(const JsonObject& config) {
  std::vector<Pooling> result;
  for (const std::string& mode : config.strings("pooling_mode")) {
    const auto known = std::ranges::find(kPoolings, mode, &PoolingName::name);
    if (known == kPoolings.end()) {
      throw ConfigError(fmt::format("{}: pooling_mode '{}' is not supported", config.file(), printable(mode)));
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

Activation read_dense_activation(const JsonObject& config) {
  const std::string name = config.string("activation_function").value_or("torch.nn.modules.activation.Tanh");
  const std::string kind = name.substr(name.rfind('.') + 1);
  constexpr std::array<std::pair<std::string_view, Activation>, 6> kKnown = {{{"Identity", Activation::identity},
                                                                              {"Tanh", Activation::tanh},
                                                                              {"ReLU", Activation::relu},
                                                                              {"GELU", Activation::gelu},
                                                                              {"SiLU", Activation::silu},
                                                                              {"Sigmoid", Activation::sigmoid}}};
  for (const auto& [known, activation] : kKnown) {
    if (known == kind) return activation;
  }
  throw ConfigError(
      fmt::format("{}: activation_function '{}' is not supported, expected Identity, Tanh, ReLU, GELU, SiLU "
                  "or Sigmoid",
                  config.file(), printable(name)));
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

// The mean of the rows, each `weight(row)` times, divided by the sum of the weights or by its root.
template <class Weight>
void add_mean(const Tensor& hidden, const Weight& weight, bool by_root, std::vector<float>& output) {
  std::vector<double> sums(static_cast<std::size_t>(hidden.width()), 0.0);
  double total = 0;
  for (Dim r = 0; r < hidden.rows(); ++r) {
    total += weight(r);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += weight(r) * static_cast<double>(hidden.row(r)[i]);
  }
  const double divisor = by_root ? std::sqrt(total) : total;
  for (const double sum : sums) output.push_back(static_cast<float>(sum / divisor));
}

void pool(Pooling pooling, const Tensor& hidden, std::vector<float>& output) {
  const Dim width = hidden.width();
  const auto one = [](Dim) { return 1.0; };
  switch (pooling) {
    case Pooling::first_token: output.insert(output.end(), hidden.row(0), hidden.row(0) + width); break;
    case Pooling::last_token: {
      const float* last = hidden.row(hidden.rows() - 1);
      output.insert(output.end(), last, last + width);
      break;
    }
    case Pooling::max:
      for (Dim i = 0; i < width; ++i) {
        float largest = hidden.row(0)[i];
        for (Dim r = 1; r < hidden.rows(); ++r) largest = std::max(largest, hidden.row(r)[i]);
        output.push_back(largest);
      }
      break;
    case Pooling::mean: add_mean(hidden, one, false, output); break;
    case Pooling::mean_by_root_length: add_mean(hidden, one, true, output); break;
    case Pooling::weighted_mean:
      add_mean(
          hidden, [](Dim r) { return static_cast<double>(r + 1); }, false, output);
      break;
  }
}

}  // namespace

class SentenceEmbedder::Reader {
 public:
  Reader(SentenceEmbedder& embedder, Dim model_dim) : embedder_(embedder), width_(model_dim) {}

  void read(const std::vector<Module>& modules, const std::filesystem::path& folder) {
    read_prompt(folder / "config_sentence_transformers.json");
    bool pooled = false;
    for (const Module& module : modules) {
      if (module.kind == "Transformer") {
        read_limits(module.path);
      } else if (module.kind == "Pooling" && !pooled) {
        const JsonObject config = read_json_object(module.path / "config.json");
        if (!config.boolean("include_prompt").value_or(true) && !embedder_.prompt_.empty()) {
          throw ConfigError(fmt::format("{}: include_prompt false is not supported, expected true", config.file()));
        }
        embedder_.pooling_ = read_pooling(config);
        width_ *= static_cast<Dim>(embedder_.pooling_.size());
        pooled = true;
      } else if (module.kind == "Dense" && pooled) {
        read_dense(module.path);
      } else if (module.kind == "Normalize" && pooled) {
        embedder_.steps_.emplace_back();
      } else if (module.kind != "Dropout") {
        throw ConfigError(
            fmt::format("{}: module '{}' is not supported here, expected Transformer, Pooling, then Dense or Normalize",
                        (folder / "modules.json").string(), printable(module.kind)));
      }
    }
  }

  void read_limits(const std::filesystem::path& folder) {
    const auto sentence_config = folder / "sentence_bert_config.json";
    if (is_there(sentence_config)) {
      const JsonObject config = read_json_object(sentence_config);
      embedder_.max_length_ = static_cast<std::size_t>(config.integer("max_seq_length", {1, kMaxLength}).value_or(0));
      if (config.boolean("do_lower_case").value_or(false)) {
        throw ConfigError(fmt::format("{}: do_lower_case is not supported, expected false: the tokenizer's own setting",
                                      config.file()));
      }
    }
    const auto tokenizer_config = folder / "tokenizer_config.json";
    if (embedder_.max_length_ == 0 && is_there(tokenizer_config)) {
      // Where there is no limit, transformers writes 1e30.
      const auto limit = read_json_object(tokenizer_config).number("model_max_length");
      if (limit && *limit >= 1 && *limit <= kMaxLength) embedder_.max_length_ = static_cast<std::size_t>(*limit);
    }
  }

 private:
  void read_prompt(const std::filesystem::path& path) {
    if (!is_there(path)) return;
    const JsonObject config = read_json_object(path);
    const auto name = config.string("default_prompt_name");
    if (name) embedder_.prompt_ = config.required_object("prompts").required_string(*name);
  }

  void read_dense(const std::filesystem::path& folder) {
    const JsonObject config = read_json_object(folder / "config.json");
    if (config.boolean("use_residual").value_or(false)) {
      throw ConfigError(fmt::format("{}: use_residual is not supported, expected false", config.file()));
    }
    const Dim outputs = config.required_integer("out_features", {1, kMaxDenseWidth});
    const WeightScope weights = WeightScope(open_checkpoint(folder).weights) / "linear";
    Step step;
    step.kind = Step::Kind::dense;
    step.weight = as_float(weights.tensor("weight", {outputs, width_}));
    if (config.boolean("bias").value_or(true)) step.bias = as_float(weights.tensor("bias", {outputs}));
    step.activation = read_dense_activation(config);
    embedder_.steps_.push_back(std::move(step));
    width_ = outputs;
  }

  SentenceEmbedder& embedder_;
  Dim width_;  // of the embedding so far
};

SentenceEmbedder SentenceEmbedder::read(const std::filesystem::path& folder, Dim model_dim) {
  SentenceEmbedder embedder;
  Reader reader(embedder, model_dim);
  const std::vector<Module> modules = read_modules(folder);
  if (modules.empty()) {
    reader.read_limits(folder);
  } else {
    reader.read(modules, folder);
  }
  return embedder;
}

std::filesystem::path SentenceEmbedder::transformer_folder(const std::filesystem::path& folder) {
  for (const Module& module : read_modules(folder)) {
    if (module.kind == "Transformer") return module.path;
  }
  return folder;
}

std::vector<float> SentenceEmbedder::dense(const Step& step, const std::vector<float>& input) {
  std::vector<float> output;
  for (Dim n = 0; n < step.weight.rows(); ++n) {
    double sum = step.bias.empty() ? 0.0 : static_cast<double>(step.bias.data<float>()[n]);
    for (std::size_t k = 0; k < input.size(); ++k) sum += static_cast<double>(input[k]) * step.weight.row(n)[k];
    output.push_back(static_cast<float>(activate(step.activation, sum)));
  }
  return output;
}

std::vector<float> SentenceEmbedder::embed(const Tensor& hidden) const {
  std::vector<float> embedding;
  for (const Pooling pooling : pooling_) pool(pooling, hidden, embedding);
  for (const Step& step : steps_) {
    if (step.kind == Step::Kind::dense) {
      embedding = dense(step, embedding);
      continue;
    }
    double squares = 0;
    for (const float x : embedding) squares += static_cast<double>(x) * x;
    const double length = std::max(std::sqrt(squares), 1e-12);
    for (float& x : embedding) x = static_cast<float>(x / length);
  }
  return embedding;
}

}  // namespace encdec
