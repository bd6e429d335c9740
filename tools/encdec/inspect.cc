#include <encdec/engine/error.h>
#include <encdec/models/checkpoint/checkpoint.h>
#include <encdec/models/generation/generation_settings.h>
#include <encdec/models/model.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "options.h"
#include "output_file.h"
#include "stats.h"
#include "text.h"

namespace encdec::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InspectArguments {
  std::string model;
  std::string graph;  // "text", "dot", or empty for none
  bool weights = false;
  bool json = false;
};

struct Amount {
  std::int64_t tensors = 0;
  std::int64_t parameters = 0;
  std::uint64_t bytes = 0;

  void add(const Tensor& tensor) {
    ++tensors;
    parameters += tensor.elements();
    bytes += tensor.bytes();
  }
};

struct WeightSummary {
  Amount all;
  std::map<std::string, Amount> by_type;
};

WeightSummary summarize(const WeightStore& weights) {
  WeightSummary summary;
  for (const auto& [name, tensor] : weights.tensors()) {
    summary.all.add(tensor);
    summary.by_type[std::string(to_string(tensor.type()))].add(tensor);
  }
  return summary;
}

std::vector<std::string> tokenizer_files(const std::string& folder) {
  std::vector<std::string> found;
  for (const char* name :
       {"tokenizer.json", "source.spm", "target.spm", "spiece.model", "sentencepiece.bpe.model", "vocab.json",
        "target_vocab.json", "merges.txt", "vocab.txt", "vocab.yml", "shared_vocabulary.json", "source_vocabulary.json",
        "target_vocabulary.json", "vocabulary.json"}) {
    if (std::filesystem::exists(std::filesystem::path(folder) / name)) found.emplace_back(name);
  }
  return found;
}

// Of keys and values that decoding keeps for each token of a target.
std::size_t cache_bytes(const Transformer& network) {
  std::size_t bytes = 0;
  for (const Executor* executor : network.graphs()) {
    for (const Graph::Node& node : executor->graph().nodes()) {
      if (node.layer != nullptr) bytes += node.layer->key_value_form().bytes();
    }
  }
  return bytes;
}

std::string_view to_string(Architecture architecture) {
  switch (architecture) {
    case Architecture::encoder_decoder: return "encoder-decoder";
    case Architecture::encoder_only: return "encoder-only";
    case Architecture::decoder_only: return "decoder-only";
  }
  return "";
}

std::string_view to_string(PositionOptions::Kind kind) {
  switch (kind) {
    case PositionOptions::Kind::none: return "relative";
    case PositionOptions::Kind::sinusoidal: return "sinusoidal";
    case PositionOptions::Kind::learned: return "learned";
  }
  return "";
}

Json stack_json(const StackConfig& stack) {
  return {{"layers", stack.layers},
          {"heads", stack.heads},
          {"hidden_dim", stack.hidden_dim},
          {"vocabulary", stack.vocabulary},
          {"positions", to_string(stack.positions.kind)},
          {"max_positions", stack.positions.positions}};
}

Json stored_json(const WeightSummary& weights) {
  Json stored = Json::object();
  for (const auto& [type, amount] : weights.by_type) {
    stored[type] = {{"tensors", amount.tensors}, {"parameters", amount.parameters}, {"bytes", amount.bytes}};
  }
  return stored;
}

Json summary_json(const Model& model, const InspectArguments& options) {
  const TransformerConfig& config = model.config();
  const WeightSummary weights = summarize(model.weights());
  const Tokenizer* tokenizer = model.tokenizer();
  Json json = {{"family", config.model_type},
               {"architecture", to_string(config.architecture)},
               {"format", to_string(model.format())},
               {"model_dim", config.model_dim}};
  if (config.has_encoder()) json["encoder"] = stack_json(config.encoder);
  if (config.has_decoder()) json["decoder"] = stack_json(config.decoder);
  json["activation"] = to_string(config.activation);
  json["gated"] = config.feed_forward == FeedForwardKind::gated;
  json["norm"] = config.norm == NormKind::rms ? "rms" : "layer";
  json["norm_order"] = config.norm_order == NormOrder::first ? "first" : "last";
  json["parameters"] = weights.all.parameters;
  json["stored"] = stored_json(weights);
  json["weight_bytes"] = weights.all.bytes;
  json["resident_bytes"] = resident_bytes();
  json["cache_bytes_per_token"] = cache_bytes(*model.network());
  json["tokenizer"] = tokenizer == nullptr ? Json::array() : Json(tokenizer_files(options.model));
  if (tokenizer != nullptr) {
    json["tokenizer_kind"] = tokenizer->kind();
    if (const auto languages = tokenizer->languages(); !languages.empty()) json["languages"] = languages;
  }
  if (config.has_decoder()) json["generation"] = to_json(model.generation_config());
  json["notes"] = model.notes();
  return json;
}

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string stack_text(const StackConfig& stack) {
  const std::string positions =
      stack.positions.kind == PositionOptions::Kind::none
          ? fmt::format("{} relative position buckets", stack.relative_positions.buckets)
      : !stack.position_limit()
          ? fmt::format("{} positions without limit", to_string(stack.positions.kind))
          : fmt::format("{} {} positions", *stack.position_limit(), to_string(stack.positions.kind));
  return fmt::format("{} layers, {} heads, hidden {}, vocabulary {}, {}", stack.layers, stack.heads, stack.hidden_dim,
                     stack.vocabulary, positions);
}

std::string generation_text(const Json& generation) {
  std::vector<std::string> settings;
  for (const auto& [key, value] : generation.items()) settings.push_back(key + " " + value.dump());
  return fmt::format("{}", fmt::join(settings, ", "));
}

std::string stored_text(const WeightSummary& weights) {
  std::vector<std::string> types;
  for (const auto& [type, amount] : weights.by_type) {
    types.push_back(fmt::format("{} ({} tensors, {})", type, amount.tensors, megabytes(amount.bytes)));
  }
  return fmt::format("{}", fmt::join(types, ", "));
}

std::string text_line(std::string_view name, std::string_view value) {
  return fmt::format("{:<12}  {}\n", name, printable(value));
}

std::string summary_text(const Model& model, const InspectArguments& options) {
  const TransformerConfig& config = model.config();
  const WeightSummary weights = summarize(model.weights());
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) { text += text_line(name, value); };
  line("family", fmt::format("{}, {}", config.model_type, to_string(config.architecture)));
  line("format", std::string(to_string(model.format())));
  line("width", fmt::format("{}", config.model_dim));
  if (config.has_encoder()) line("encoder", stack_text(config.encoder));
  if (config.has_decoder()) line("decoder", stack_text(config.decoder));
  line("block", fmt::format("{}{}, {} norm {}", config.feed_forward == FeedForwardKind::gated ? "gated " : "",
                            to_string(config.activation), config.norm == NormKind::rms ? "rms" : "layer",
                            config.norm_order == NormOrder::first ? "first" : "last"));
  line("parameters", fmt::format("{}", weights.all.parameters));
  line("stored as", stored_text(weights));
  const std::string now = megabytes(static_cast<std::uint64_t>(resident_bytes())) + " now";
  line("memory", !config.has_decoder() ? now
                                       : fmt::format("{}, {} bytes for each generated token while its sentence is "
                                                     "decoded",
                                                     now, cache_bytes(*model.network())));
  const Tokenizer* tokenizer = model.tokenizer();
  line("tokenizer", tokenizer == nullptr
                        ? "none: takes and gives token ids"
                        : fmt::format("{} ({})", tokenizer->kind(), fmt::join(tokenizer_files(options.model), ", ")));
  if (tokenizer != nullptr && !tokenizer->languages().empty()) {
    line("languages", fmt::format("{}", fmt::join(tokenizer->languages(), ", ")));
  }
  if (config.has_decoder()) line("generation", generation_text(to_json(model.generation_config())));
  for (const std::string& note : model.notes()) line("note", note);
  return text;
}

std::string weights_text(const WeightStore& weights) {
  std::size_t name_width = 0;
  for (const auto& [name, tensor] : weights.tensors()) name_width = std::max(name_width, name.size());
  std::string text;
  for (const auto& [name, tensor] : weights.tensors()) {
    text += fmt::format("{:<{}}  {:<8}  {:<16}  {}\n", printable(name), name_width, to_string(tensor.type()),
                        to_string(tensor.shape()), tensor.bytes());
  }
  return text;
}

Json weights_json(const WeightStore& weights) {
  Json list = Json::array();
  for (const auto& [name, tensor] : weights.tensors()) {
    const auto dims = tensor.shape().dims();
    list.push_back({{"name", name},
                    {"dtype", to_string(tensor.type())},
                    {"shape", std::vector<Dim>(dims.begin(), dims.end())},
                    {"bytes", tensor.bytes()}});
  }
  return list;
}

// Of a folder that this version cannot run: what is in it, and why not.
std::string unsupported_report(const InspectArguments& options, const std::string& reason) {
  const Checkpoint checkpoint = open_checkpoint(options.model);
  const WeightSummary weights = summarize(*checkpoint.weights);
  const std::string family =
      (checkpoint.config ? checkpoint.config->string("model_type") : std::nullopt).value_or("unknown");
  if (options.json) {
    Json json = {{"family", family},
                 {"format", to_string(checkpoint.format)},
                 {"parameters", weights.all.parameters},
                 {"stored", stored_json(weights)},
                 {"weight_bytes", weights.all.bytes},
                 {"unsupported", reason}};
    if (options.weights) json["weights"] = weights_json(*checkpoint.weights);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return text_line("family", family) + text_line("format", to_string(checkpoint.format)) +
         text_line("parameters", std::to_string(weights.all.parameters)) +
         text_line("stored as", stored_text(weights)) + text_line("unsupported", reason) +
         (options.weights ? "\n" + weights_text(*checkpoint.weights) : "");
}

std::string report(const Model& model, const InspectArguments& options) {
  if (!options.graph.empty()) {
    std::string text;
    for (const Executor* executor : model.network()->graphs()) {
      if (options.graph == "dot") {
        text += executor->graph().to_dot();
      } else {
        text += (text.empty() ? "" : "\n") + executor->graph().to_text();
      }
    }
    return text;
  }
  if (options.json) {
    Json json = summary_json(model, options);
    if (options.weights) json["weights"] = weights_json(model.weights());
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return summary_text(model, options) + (options.weights ? "\n" + weights_text(model.weights()) : "");
}

std::string report(const InspectArguments& options) {
  try {
    return report(Model::load(options.model, {.threads = 1}), options);
  } catch (const UnsupportedModelError& error) {
    if (!options.graph.empty()) throw;
    return unsupported_report(options, error.what());
  }
}

}  // namespace

Action add_inspect(CLI::App& command) {
  const auto options = std::make_shared<InspectArguments>();
  add_model_option(command, options->model);
  CLI::Option* weights = command.add_flag("--weights", options->weights, "Every tensor: name, type, shape, bytes");
  CLI::Option* json = command.add_flag("--json", options->json, "Write one JSON object");
  CLI::Option* graph = command.add_option(
      "--graph", options->graph, "Write only the graphs of encoder, decoder and output, as text or for Graphviz");
  take_words(graph, {"text", "dot"})->excludes(weights)->excludes(json);
  return [options] {
    OutputFile output("");
    output.write(report(*options));
    output.commit();
  };
}

}  // namespace encdec::cli
