// Task calls of Hugging Face's InferenceClient (huggingface_hub 2.4): POST {"inputs", "parameters"} to an address of
// one model and one task.
#include <encdec/models/generation/generation_settings.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "attention/labelled_attention.h"
#include "common/json_arrays.h"
#include "serve/generation_request.h"
#include "serve/routes.h"
#include "serve/text/stop_texts.h"
#include "serve/text_request.h"

namespace encdec::serve {
namespace hugging_face {

using Json = nlohmann::ordered_json;

HttpResponse error_form(const HttpError& error, const HttpRequest& /*request*/) {
  const char* type = error.status() == 429 || error.status() == 503 ? "overloaded"
                     : error.status() < 500                         ? "validation"
                                                                    : "generation";
  return {.status = error.status(), .body = to_text({{"error", error.what()}, {"error_type", type}})};
}

// The "parameters" of a request, divided into generation options and flags. "generate_parameters" in them is merged.
class TaskParameters {
 public:
  explicit TaskParameters(const JsonObject& request) {
    if (const auto parameters = request.object("parameters")) {
      add(parameters->value());
      if (const auto inner = parameters->object("generate_parameters")) add(inner->value());
    }
  }

  bool flag(const char* name, bool otherwise) const {
    const auto found = flags_.find(name);
    return found != flags_.end() ? found->second : otherwise;
  }
  GenerateOptions options(const ServedModel& model, const ServiceLimits& limits) const {
    return read_options(JsonObject(values_, "parameters"), model, limits);
  }

  // Returns GenerateOptions::long_sources for the parameter "truncation": a boolean or a TruncationStrategy.
  static const char* long_sources_of(const nlohmann::json& truncation) {
    constexpr std::array<std::string_view, 3> kTruncating = {"longest_first", "only_first", "only_second"};
    const bool is_name = truncation.is_string();
    const std::string name = is_name ? truncation.get<std::string>() : "";
    if (truncation == true || std::ranges::find(kTruncating, name) != kTruncating.end()) return "truncate";
    if (truncation == false || name == "do_not_truncate") return "error";
    throw HttpError(400, fmt::format("'truncation' is {}, expected true, false, longest_first, only_first, "
                                     "only_second or do_not_truncate",
                                     is_name ? "'" + name + "'" : std::string(truncation.type_name())));
  }

 private:
  // Parameters of the client and of transformers' pipelines that are not generation options.
  static constexpr std::array<std::string_view, 6> kFlags = {
      "details",   "return_full_text",      "clean_up_tokenization_spaces",
      "watermark", "decoder_input_details", "generate_parameters"};

  void add(const nlohmann::json& parameters) {
    for (const auto& item : parameters.items()) {
      if (item.value().is_null()) continue;
      if (item.key() == "truncation") {
        values_["long_sources"] = long_sources_of(item.value());
      } else if (std::ranges::find(kFlags, item.key()) == kFlags.end()) {
        values_[item.key()] = item.value();
      } else if (item.value().is_boolean()) {
        flags_[item.key()] = item.value().get<bool>();
      }
    }
  }

  nlohmann::json values_ = nlohmann::json::object();
  std::map<std::string, bool, std::less<>> flags_;
};

const char* reason_of(FinishReason reason) {
  return reason == FinishReason::stop ? "eos_token" : "length";
}

Json token_json(const Model& model, std::int32_t id, float score, const std::string& text) {
  return {{"id", id}, {"text", text}, {"logprob", cli::short_number(score)}, {"special", is_special(model, id)}};
}

Json details_of(const Hypothesis& hypothesis, std::size_t source_tokens, const GenerateOptions& options) {
  return {{"finish_reason", reason_of(hypothesis.finish_reason)},
          {"generated_tokens", hypothesis.token_ids.size()},
          {"input_length", source_tokens},
          {"seed", options.seed ? Json(*options.seed) : Json(nullptr)}};
}

Json tokens_json(const Model& model, const Hypothesis& hypothesis) {
  Json tokens = Json::array();
  for (std::size_t i = 0; i < hypothesis.token_ids.size(); ++i) {
    const std::int32_t id = hypothesis.token_ids[i];
    tokens.push_back(token_json(model, id, hypothesis.token_scores[i], cli::token_name(model, id, TextSide::target)));
  }
  return tokens;
}

asio::awaitable<void> stream_text(Call& call, ServedModel& model, const GenerateInput& input,
                                  const GenerateOptions& options) {
  Work work = call.start(model, std::span(&input, 1), options);
  call.begin_events();
  StoppedText stream(model.model().tokenizer());
  // The event of the last token also has the whole text. So each event is held until the next news.
  std::optional<Json> held;
  std::size_t index = 0;
  const Call::OnTokens on_tokens = [&](std::size_t, FinalTokens& tokens) {
    for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
      if (held) call.send_event(*held);
      stream.push(std::span(tokens.ids).subspan(i, 1));
      const std::string text = stream.take();
      held = Json{{"index", ++index},
                  {"token", token_json(model.model(), tokens.ids[i], tokens.scores[i], text)},
                  {"generated_text", nullptr},
                  {"details", nullptr}};
    }
    return true;
  };
  const auto results = co_await call.results(work, 1, on_tokens);
  const GenerateResult& result = *results.front();
  if (!held) held = Json{{"index", 0}, {"token", {{"id", 0}, {"text", ""}, {"logprob", 0.0}, {"special", true}}}};
  Json& text = (*held)["token"]["text"];
  stream.finish();
  text = text.get<std::string>() + stream.take();
  const Hypothesis& best = result.hypotheses.front();
  (*held)["generated_text"] = best.text;
  (*held)["details"] = details_of(best, result.source_tokens, options);
  call.send_event(*held);
  call.finish();
}

// Returns the key of the text in the results of a task; null for a task that does not generate.
const char* result_key(std::string_view task) {
  if (task == "translation") return "translation_text";
  if (task == "summarization") return "summary_text";
  if (task == "text-generation" || task == "text2text-generation") return "generated_text";
  return nullptr;
}

asio::awaitable<void> generate(Call& call, const JsonObject& request, const std::string& name, std::string_view task) {
  ServedModel& model = call.parts().models.generator(name);
  std::vector<GenerateInput> inputs = read_inputs(call, request, "inputs", model);
  if (inputs.empty()) throw HttpError(400, "'inputs' is missing or empty");
  const TaskParameters parameters(request);
  const GenerateOptions options = parameters.options(model, call.limits());
  if (request.boolean("stream").value_or(false)) {
    if (inputs.size() != 1) throw HttpError(400, "'stream' is for one input");
    co_return co_await stream_text(call, model, inputs.front(), options);
  }
  const auto results = co_await call.generate(model, inputs, options);
  const bool repeats = task == "text-generation" && parameters.flag("return_full_text", false);
  Json answer = Json::array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto* source = std::get_if<std::string>(&inputs[i].source);
    for (const Hypothesis& hypothesis : results[i].hypotheses) {
      Json item = {{result_key(task), repeats && source != nullptr ? *source + hypothesis.text : hypothesis.text}};
      if (parameters.flag("details", false)) {
        item["details"] = details_of(hypothesis, results[i].source_tokens, options);
        item["details"]["prefill"] = Json::array();
        item["details"]["tokens"] = tokens_json(model.model(), hypothesis);
      }
      answer.push_back(std::move(item));
    }
  }
  call.respond(answer);
}

asio::awaitable<void> extract_features(Call& call, const JsonObject& request, const std::string& name) {
  ServedModel& model = call.parts().models.embedder(name);
  std::vector<std::string> texts = read_texts(call, request, "inputs", model);
  if (texts.empty()) throw HttpError(400, "'inputs' is missing or empty");
  const bool is_list = request.value().at("inputs").is_array();
  const EmbedOptions options = read_embed_options(request, false);
  const auto results = co_await call.embed(model, std::move(texts), options);
  Json vectors = Json::array();
  for (const VectorResult& result : results) vectors.push_back(vector_json(result));
  call.respond(is_list ? vectors : vectors.front());
}

// Returns the elements of "inputs": those of the list, or the one input. Sets `is_list`.
std::vector<nlohmann::json> list_of_inputs(const Call& call, const JsonObject& request, bool& is_list) {
  const auto inputs = request.value().find("inputs");
  if (inputs == request.value().end()) throw HttpError(400, "'inputs' is missing");
  is_list = inputs->is_array();
  if (!is_list) return {*inputs};
  if (inputs->empty()) throw HttpError(400, "'inputs' is empty");
  call.check_inputs(inputs->size());
  return {inputs->begin(), inputs->end()};
}

JsonObject parameters_of(const JsonObject& request) {
  return request.object("parameters").value_or(JsonObject(nlohmann::json::object(), "parameters"));
}

LongSources long_texts_of(const JsonObject& parameters) {
  const auto found = parameters.value().find("truncation");
  const bool truncates = found == parameters.value().end() || found->is_null() ||
                         std::string_view(TaskParameters::long_sources_of(*found)) == "truncate";
  return truncates ? LongSources::truncate : LongSources::error;
}

// Returns the value with a name. Throws HttpError, 400, for an unknown name.
auto named(const auto& table, std::string_view parameter, const std::string& word) {
  const auto value = value_named<decltype(table.front().value)>(table, word);
  if (value) return *value;
  throw HttpError(400, fmt::format("'{}' is '{}', expected {}", parameter, word, fmt::join(names_of(table), ", ")));
}

// The answer is a list for each text, and also a list for a single one: clients read the first element.
asio::awaitable<void> classify_texts(Call& call, const JsonObject& request, const std::string& name) {
  ServedModel& model = call.parts().models.classifier(name);
  const JsonObject parameters = parameters_of(request);
  bool is_list = false;
  std::vector<TextPair> texts;
  for (const nlohmann::json& input : list_of_inputs(call, request, is_list))
    texts.push_back(read_pair(input, "inputs"));
  ClassifyOptions options{.long_texts = long_texts_of(parameters)};
  if (const auto function = parameters.string("function_to_apply")) {
    options.function = named(kScoreFunctionNames, "function_to_apply", *function);
  }
  const auto top_k = static_cast<int>(parameters.integer("top_k", {.min = 1, .max = kMaxTokenCount}).value_or(0));
  const auto results = co_await call.classify(model, std::move(texts), options);
  Json answer = Json::array();
  for (const VectorResult& result : results) {
    answer.push_back(labels_json(model.model().classifier()->labels(), result.values, top_k));
  }
  call.respond(answer);
}

asio::awaitable<void> classify_by_labels(Call& call, const JsonObject& request, const std::string& name) {
  ServedModel& model = call.parts().models.classifier(name);
  const JsonObject parameters = parameters_of(request);
  std::vector<std::string> labels = parameters.strings("candidate_labels");
  if (labels.size() == 1) labels = split_labels(labels.front());
  const std::string pattern = parameters.string("hypothesis_template").value_or(ZeroShotOptions().hypothesis_template);
  bool is_list = false;
  const std::vector<nlohmann::json> inputs = list_of_inputs(call, request, is_list);
  call.check_inputs(inputs.size() * labels.size());  // before the pairs are made
  std::vector<TextPair> pairs;
  for (const nlohmann::json& input : inputs) {
    std::ranges::move(hypotheses(read_pair(input, "inputs").first, labels, pattern), std::back_inserter(pairs));
  }
  const ClassifyOptions options{
      .function = ScoreFunction::none, .long_texts = long_texts_of(parameters), .truncation = Truncation::only_first};
  const auto results = co_await call.classify(model, std::move(pairs), options);
  Json answer = Json::array();
  for (std::size_t first = 0; first < results.size(); first += labels.size()) {
    std::vector<float> logits;
    for (std::size_t i = first; i < first + labels.size(); ++i) {
      logits.insert(logits.end(), results[i].values.begin(), results[i].values.end());
    }
    const bool multi_label = parameters.boolean("multi_label").value_or(false);
    answer.push_back(labels_json(labels, model.model().classifier()->candidate_scores(logits, multi_label)));
  }
  call.respond(is_list ? answer : answer.front());
}

asio::awaitable<void> tag(Call& call, const JsonObject& request, const std::string& name) {
  ServedModel& model = call.parts().models.tagger(name);
  const JsonObject parameters = parameters_of(request);
  bool is_list = false;
  std::vector<std::string> texts;
  for (const nlohmann::json& input : list_of_inputs(call, request, is_list)) {
    texts.push_back(read_pair(input, "inputs").first);
  }
  TagOptions options{.long_texts = long_texts_of(parameters)};
  if (const auto word = parameters.string("aggregation_strategy")) {
    options.aggregation = named(kAggregationNames, "aggregation_strategy", *word);
  }
  if (parameters.has("ignore_labels")) options.ignore_labels = parameters.strings("ignore_labels");
  options.stride = static_cast<int>(parameters.integer("stride", {.min = 0, .max = kMaxTokenCount}).value_or(0));
  Json answer = Json::array();
  for (const auto& entities : co_await call.tag(model, std::move(texts), options)) {
    answer.push_back(cli::to_array(entities, options.aggregation));
  }
  call.respond(is_list ? answer : answer.front());
}

asio::awaitable<void> run_task(Call& call, const JsonObject& request, const std::string& name, std::string_view task) {
  if (task == "feature-extraction") co_return co_await extract_features(call, request, name);
  if (task == "text-classification") co_return co_await classify_texts(call, request, name);
  if (task == "token-classification") co_return co_await tag(call, request, name);
  if (task == "zero-shot-classification") co_return co_await classify_by_labels(call, request, name);
  if (task == "sentence-similarity") {
    co_return co_await answer_similarity(call, request.required_object("inputs"), name);
  }
  if (result_key(task) == nullptr) {
    throw HttpError(404,
                    "unknown task, expected translation, summarization, text-generation, text2text-generation, "
                    "feature-extraction, sentence-similarity, text-classification, token-classification or "
                    "zero-shot-classification");
  }
  co_await generate(call, request, name, task);
}

asio::awaitable<void> named_task(Call& call) {
  const JsonObject request = call.json();
  co_await run_task(call, request, call.path_word(0), call.path_word(1));
}

// Runs the task for which the model was trained.
asio::awaitable<void> natural_task(Call& call) {
  const JsonObject request = call.json();
  const std::string name = call.path_word(0);
  const ServedModel& model = call.parts().models.any(name);
  if (model.transcribes()) {
    throw HttpError(400, fmt::format("model '{}' transcribes recordings: POST /v1/audio/transcriptions", model.name()));
  }
  const char* task = model.tags()                            ? "token-classification"
                     : model.classifies()                    ? "text-classification"
                     : model.embeds()                        ? "feature-extraction"
                     : !model.model().config().has_encoder() ? "text-generation"
                     : !model.languages().targets.empty()    ? "translation"
                                                             : "text2text-generation";
  co_await run_task(call, request, model.name(), task);
}

asio::awaitable<void> generate_stream(Call& call) {
  const JsonObject request = call.json();
  ServedModel& model = call.parts().models.generator("");
  const std::vector<GenerateInput> inputs = read_inputs(call, request, "inputs", model);
  if (inputs.size() != 1) throw HttpError(400, "'inputs' is missing, expected one text");
  const GenerateOptions options = TaskParameters(request).options(model, call.limits());
  co_await stream_text(call, model, inputs.front(), options);
}

asio::awaitable<void> generate_text(Call& call) {
  const JsonObject request = call.json();
  const std::string any_model;
  co_await generate(call, request, any_model, "text-generation");
}

constexpr std::array kRoutes = {
    Route{"POST", "/", &natural_task, &error_form},
    Route{"POST", "/models/*/pipeline/*", &named_task, &error_form},
    Route{"POST", "/models/*", &natural_task, &error_form},
    Route{"POST", "/generate", &generate_text, &error_form},
    Route{"POST", "/generate_stream", &generate_stream, &error_form},
};

}  // namespace hugging_face

std::span<const Route> hugging_face_routes() {
  return hugging_face::kRoutes;
}

}  // namespace encdec::serve
