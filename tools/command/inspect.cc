#include <encdec/engine/base/error.h>
#include <encdec/models/checkpoint/checkpoint.h>
#include <encdec/models/checkpoint/language_pair.h>
#include <encdec/models/families/model_description.h>
#include <encdec/models/generation/generation_settings.h>
#include <encdec/models/model.h>
#include <encdec/models/model/hub_cache.h>
#include <encdec/models/model/sentence_embedder.h>
#include <encdec/models/tokenizer/load_tokenizer.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "command/commands.h"
#include "command/lines.h"
#include "command/options.h"
#include "command/output_file.h"
#include "common/json_arrays.h"
#include "encdec/engine/base/machine.h"

namespace encdec::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InspectArguments {
  std::string model;
  std::optional<BackendChoice> backend;
  std::string graph;  // format of the graph: "text" or "dot"; empty for no graph
  bool weights = false;
  bool json = false;
};

// Totals over several tensors.
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

// Adds "parameters", "stored" (amounts by data type) and "weight_bytes" to `json`. A tensor with two names counts once.
void add_amounts(const WeightStore& weights, Json& json) {
  Amount all;
  std::map<std::string, Amount> by_type;
  std::set<const std::byte*> counted;
  for (const auto& [name, tensor] : weights.tensors()) {
    if (tensor.bytes() > 0 && !counted.insert(tensor.raw()).second) continue;
    all.add(tensor);
    by_type[std::string(to_string(tensor.type()))].add(tensor);
  }
  json["parameters"] = all.parameters;
  Json& stored = json["stored"] = Json::object();
  for (const auto& [type, amount] : by_type) {
    stored[type] = {{"tensors", amount.tensors}, {"parameters", amount.parameters}, {"bytes", amount.bytes}};
  }
  json["weight_bytes"] = all.bytes;
}

// Returns the size of the key-value cache for one target token.
std::size_t cache_bytes(const Transformer& network) {
  std::size_t bytes = 0;
  for (const Executor* executor : network.graphs()) {
    for (const Graph::Node& node : executor->graph().nodes()) {
      if (node.layer != nullptr) bytes += node.layer->key_value_form().bytes();
    }
  }
  return bytes;
}

bool has_rotary_positions(const StackConfig& stack) {
  return stack.attention_of(0).rotary.base != 0;
}

std::string_view position_kind(const StackConfig& stack) {
  const auto kind = stack.positions.kind;
  return has_rotary_positions(stack)              ? "rotary"
         : kind == PositionOptions::Kind::none    ? "relative"
         : kind == PositionOptions::Kind::learned ? "learned"
                                                  : "sinusoidal";
}

Json stack_json(const StackConfig& stack) {
  Json json = {{"layers", stack.layers}, {"heads", stack.attention.heads}, {"hidden_dim", stack.hidden_dim}};
  if (stack.frames.reads_samples()) {
    json["samples_per_row"] = stack.frames.per_row;
  } else if (stack.frames.width > 0) {
    json["mel_bands"] = stack.frames.width;
  } else {
    json["vocabulary"] = stack.vocabulary;
  }
  json["positions"] = position_kind(stack);
  json["max_positions"] = stack.positions.count;
  return json;
}

Json summary_of(const Model& model, const std::string& folder) {
  const TransformerConfig& config = model.config();
  const Tokenizer* tokenizer = model.tokenizer();
  Json json = {{"family", config.model_type},
               {"architecture", to_string(config.architecture)},
               {"format", to_string(model.checkpoint().format)},
               {"model_dim", config.model_dim()}};
  if (config.has_encoder()) json["encoder"] = stack_json(config.encoder);
  if (config.decoder.layers > 0) json["decoder"] = stack_json(config.decoder);
  const StackConfig& last = config.last_stack();
  json["activation"] = to_string(last.activation);
  json["gated"] = last.feed_forward == FeedForwardKind::gated;
  json["norm"] = last.norm.kind == NormKind::rms ? "rms" : "layer";
  constexpr std::string_view kOrders[] = {"last", "first", "both"};
  json["norm_order"] = kOrders[static_cast<int>(last.norm_order)];
  for (const CommandSlice& slice : command_slices()) {
    if (slice.inspect != nullptr) slice.inspect(model, json);
  }
  // Add weights, memory and kernels.
  add_amounts(*model.checkpoint().weights, json);
  json["resident_bytes"] = resident_bytes();
  json["cache_bytes_per_token"] = cache_bytes(*model.network());
  json["backend"] = to_string(model.backend());
  for (const Precision precision : {Precision::float32, Precision::bfloat16, Precision::int8, Precision::int4}) {
    if (std::string name = model.backend_of(precision); !name.empty()) json["backends"][to_string(precision)] = name;
  }
  json["tokenizer"] = tokenizer == nullptr ? Json::array() : Json(tokenizer_files(folder));
  if (tokenizer != nullptr) {
    json["tokenizer_kind"] = tokenizer->kind();
    if (const auto languages = tokenizer->languages(); !languages.empty()) json["languages"] = languages;
  }
  if (tokenizer != nullptr && config.has_encoder() && config.has_decoder()) {
    if (const auto pair = language_pair_of(folder)) {
      json["source_lang"] = pair->source;
      json["target_lang"] = pair->target;
    }
  }
  if (config.has_decoder()) json["generation"] = to_json(model.generation_config());
  json["notes"] = model.notes().lines;
  return json;
}

// Returns the summary of a checkpoint that cannot be run. The summary includes the reason.
Json summary_of(const Checkpoint& checkpoint, const std::string& reason) {
  const auto& config = checkpoint.settings.config;
  const auto family = config ? config->string("model_type") : std::nullopt;
  Json json = {{"family", family.value_or("unknown")}, {"format", to_string(checkpoint.format)}};
  add_amounts(*checkpoint.weights, json);
  json["unsupported"] = reason;
  return json;
}

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string stack_text(const StackConfig& stack) {
  const std::string positions =
      has_rotary_positions(stack) ? "rotary positions"
      : stack.positions.kind == PositionOptions::Kind::none
          ? fmt::format("{} relative position buckets", stack.attention.relative_positions.buckets)
      : !stack.position_limit() ? fmt::format("{} positions without limit", position_kind(stack))
                                : fmt::format("{} {} positions", *stack.position_limit(), position_kind(stack));
  const std::string input = stack.frames.reads_samples()
                                ? fmt::format("reads audio, a row for {} samples", stack.frames.per_row)
                            : stack.frames.width > 0 ? fmt::format("reads audio in {} mel bands", stack.frames.width)
                                                     : fmt::format("vocabulary {}", stack.vocabulary);
  return fmt::format("{} layers, {} heads, hidden {}, {}, {}", stack.layers, stack.attention.heads, stack.hidden_dim,
                     input, positions);
}

std::string generation_text(const Json& generation) {
  std::vector<std::string> settings;
  for (const auto& [key, value] : generation.items()) settings.push_back(key + " " + value.dump());
  return fmt::format("{}", fmt::join(settings, ", "));
}

std::string stored_text(const Json& stored) {
  std::vector<std::string> types;
  for (const auto& [type, amount] : stored.items()) {
    types.push_back(fmt::format("{} ({} tensors, {})", type, amount["tensors"].dump(), megabytes(amount["bytes"])));
  }
  return fmt::format("{}", fmt::join(types, ", "));
}

// Returns the summary as text. `config` is null if the model cannot be run.
std::string text_of(const Json& json, const TransformerConfig* config) {
  std::string text;
  const auto line = [&](std::string_view name, std::string_view value) {
    text += fmt::format("{:<12}  {}\n", name, without_controls(value));
  };
  const auto value = [&](const char* key) {
    return json[key].is_string() ? json[key].get<std::string>() : json[key].dump();
  };
  const auto list = [&](const char* key) {
    return fmt::format("{}", fmt::join(json[key].get<std::vector<std::string>>(), ", "));
  };
  line("family", config == nullptr ? value("family") : value("family") + ", " + value("architecture"));
  line("format", value("format"));
  if (config != nullptr) {
    line("width", value("model_dim"));
    if (config->has_encoder()) line("encoder", stack_text(config->encoder));
    if (config->decoder.layers > 0) line("decoder", stack_text(config->decoder));
    line("block", fmt::format("{}{}, {} norm {}", json["gated"] ? "gated " : "", value("activation"), value("norm"),
                              value("norm_order")));
  }
  if (json.contains("classifier")) {
    const Json& classifier = json["classifier"];
    const auto labels = classifier["labels"].get<std::vector<std::string>>();
    line("classifier", fmt::format("of {}, {} labels: {}", classifier["of"].get<std::string>(), labels.size(),
                                   fmt::join(labels, ", ")));
  }
  if (json.contains("vectors")) line("vectors", list("vectors"));
  line("parameters", value("parameters"));
  line("stored as", stored_text(json["stored"]));
  // The remaining lines need a model that can be run.
  if (config == nullptr) {
    line("unsupported", value("unsupported"));
    return text;
  }
  const std::string now = megabytes(json["resident_bytes"]) + " resident";
  line("memory", !config->has_decoder() ? now
                                        : fmt::format("{}; {} bytes for each token of a sequence during decoding", now,
                                                      value("cache_bytes_per_token")));
  for (const auto& [precision, names] : json["backends"].items()) line(precision, "by " + names.get<std::string>());
  line("tokenizer", !json.contains("tokenizer_kind") ? "none: reads and writes token ids"
                    : json["tokenizer"].empty()      ? value("tokenizer_kind")
                                                     : value("tokenizer_kind") + " (" + list("tokenizer") + ")");
  if (json.contains("languages")) {
    line("languages", list("languages"));
  } else if (json.contains("source_lang")) {
    line("languages", value("source_lang") + " to " + value("target_lang"));
  }
  if (json.contains("generation")) line("generation", generation_text(json["generation"]));
  for (const Json& note : json["notes"]) line("note", note.get<std::string>());
  return text;
}

std::string weights_text(const WeightStore& weights) {
  std::size_t name_width = 0;
  for (const auto& [name, tensor] : weights.tensors()) name_width = std::max(name_width, name.size());
  std::string text;
  for (const auto& [name, tensor] : weights.tensors()) {
    text += fmt::format("{:<{}}  {:<8}  {:<16}  {}\n", without_controls(name), name_width, to_string(tensor.type()),
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

std::string report(Json summary, const TransformerConfig* config, const WeightStore& weights,
                   const InspectArguments& options) {
  if (!options.json) return text_of(summary, config) + (options.weights ? "\n" + weights_text(weights) : "");
  if (options.weights) summary["weights"] = weights_json(weights);
  return to_text(summary) + "\n";
}

std::string graphs(const Transformer& network, const std::string& form) {
  std::string text;
  for (const Executor* executor : network.graphs()) {
    const Graph& graph = executor->graph();
    text += form == "dot" ? graph.to_dot() : (text.empty() ? "" : "\n") + graph.to_text();
  }
  return text;
}

// Lists the models in the local Hugging Face cache. The text has a line for each supported model. JSON has an object
// for each model; the object of an unsupported model has the reason.
std::string cache_report(bool is_json) {
  std::string lines;
  Json list = Json::array();
  for (const std::string& name : cached_models()) {
    Json& json = list.emplace_back(Json{{"model", name}});
    try {
      const std::filesystem::path folder = model_folder(name);
      json["folder"] = folder.string();
      const Checkpoint checkpoint = open_checkpoint(SentenceEmbedder::transformer_folder(folder));
      json["family"] = describe_model(checkpoint).config.model_type;
      add_amounts(*checkpoint.weights, json);
      lines +=
          fmt::format("{:<48}  {:<16}  {}\n", name, json["family"].get<std::string>(), megabytes(json["weight_bytes"]));
    } catch (const Error& error) {
      json["problem"] = error.what();
    }
  }
  if (is_json) return to_text(list) + "\n";
  if (lines.empty()) throw FileError(fmt::format("{}: no supported model, expected one", hub_cache().string()));
  return lines;
}

std::string report(const InspectArguments& options) {
  if (options.model.empty()) return cache_report(options.json);
  const std::string folder = model_folder(options.model).string();
  try {
    const Model model = Model::load(folder, {.threads = 1, .backend = options.backend});
    if (!options.graph.empty()) return graphs(*model.network(), options.graph);
    return report(summary_of(model, folder), &model.config(), *model.checkpoint().weights, options);
  } catch (const UnsupportedModelError& error) {
    if (!options.graph.empty()) throw;
    const Checkpoint checkpoint = open_checkpoint(folder);
    return report(summary_of(checkpoint, error.what()), nullptr, *checkpoint.weights, options);
  }
}

}  // namespace

Action add_inspect(CLI::App& command) {
  const auto options = std::make_shared<InspectArguments>();
  add_model_option(command, options->model)->required(false);
  add_backend_option(command, options->backend);
  CLI::Option* weights = command.add_flag("--weights", options->weights, "List every tensor: name, type, shape, bytes");
  CLI::Option* json = command.add_flag("--json", options->json, "Write one JSON object");
  CLI::Option* graph = command.add_option(
      "--graph", options->graph, "Write only the graphs of encoder, decoder and output, as text or for Graphviz (dot)");
  take_words(graph, {"text", "dot"})->excludes(weights)->excludes(json);
  return [options] {
    OutputFile output("");
    output.write(report(*options));
    output.commit();
  };
}

}  // namespace encdec::cli
