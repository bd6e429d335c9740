// The protocol of Hugging Face's text-embeddings-inference (router/src/http, 1.9).
#include <encdec/engine/base/cancellation.h>
#include <encdec/models/checkpoint/json_events.h>
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/json_arrays.h"
#include "encoders/server/encoders_server.h"

namespace encdec::serve {

namespace tei {

using Json = nlohmann::ordered_json;

constexpr std::size_t kCountedBytes = 64 << 10;  // Call::count() is called for every 64 KiB of a response

// Handles /embed, /embed_sparse and /embed_all.
template <EmbedOutput output>
asio::awaitable<void> embed(Call& call) {
  constexpr bool is_dense = output == EmbedOutput::dense;
  const JsonObject request = call.json();
  const std::string name = request.string("model").value_or("");
  ServedModel& model = embedder_of(call, name, output, is_dense ? 404 : 424);
  std::vector<std::string> texts = read_texts(call, request, "inputs", model);
  if (texts.empty()) {
    call.respond({{"error", "`inputs` cannot be empty"}, {"error_type", "Empty"}}, 400);
    co_return;
  }
  EmbedOptions options = read_embed_options(request, is_dense);
  options.output = output;
  std::vector<std::string> vectors;
  for (const VectorResult& result : co_await embed_texts(call, model, std::move(texts), options)) {
    vectors.push_back(to_text(vector_json(result)));
  }
  call.respond_list("[", std::move(vectors), "]");
}

// Responds to {"source_sentence", "sentences"} with the cosine similarities of their embeddings: [0.7, ...].
asio::awaitable<void> similarity(Call& call) {
  const JsonObject request = call.json(), inputs = request.required_object("inputs");
  ServedModel& model = embedder_of(call, request.string("model").value_or(""));
  std::vector<std::string> texts = inputs.strings("sentences");
  if (texts.empty()) throw HttpError(400, "`inputs.sentences` cannot be empty");
  texts.insert(texts.begin(), inputs.required_string("source_sentence"));
  const EmbedOptions options{.normalize = true};
  const auto results = co_await embed_texts(call, model, std::move(texts), options);
  std::vector<float> cosines;
  for (std::size_t i = 1; i < results.size(); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < results[i].values.size(); ++k) sum += results[0].values[k] * results[i].values[k];
    cosines.push_back(static_cast<float>(sum));
  }
  call.respond(cli::to_array(cosines));
}

// Reads a text or a pair of texts: "a", ["a"], ["a", "b"] or {"text": "a", "text_pair": "b"}. `where` is the path of
// `value` for error messages.
TextPair read_pair(const nlohmann::json& value, std::string_view where) {
  const auto is_text = [](const nlohmann::json& item) { return item.is_string(); };
  if (is_text(value)) return {value.get<std::string>()};
  if (value.is_array() && (value.size() == 1 || value.size() == 2) && std::ranges::all_of(value, is_text)) {
    TextPair pair{value[0].get<std::string>()};
    if (value.size() == 2) pair.second = value[1].get<std::string>();
    return pair;
  }
  if (value.is_object()) {
    const JsonObject object(value, std::string(where));
    return {object.required_string("text"), object.string("text_pair")};
  }
  throw HttpError(400, fmt::format("'{}' is {}, expected a text or a pair of texts", where,
                                   value.is_array() ? fmt::format("a list of {}", value.size()) : value.type_name()));
}

// Returns [{"label", "score"}, ...], highest score first.
Json labels_json(std::span<const std::string> labels, std::span<const float> scores) {
  Json list = Json::array();
  for (const auto& [index, score] : ranked(scores, 0)) {
    list.push_back({{"label", labels[index]}, {"score", cli::short_number(score)}});
  }
  return list;
}

// Classifies one input. If the first item of "inputs" is itself a list, classifies each item.
asio::awaitable<void> predict(Call& call) {
  const JsonObject request = call.json();
  ServedModel& model = classifier_of(call, request.string("model").value_or(""));
  const auto inputs = request.value().find("inputs");
  if (inputs == request.value().end()) throw HttpError(400, "'inputs' is missing, expected a text, a pair or a list");
  const bool is_batch = inputs->is_array() && !inputs->empty() && inputs->front().is_array();
  // Read the texts. The response to a single input is a single list of labels.
  std::vector<TextPair> texts;
  if (is_batch) {
    call.check_inputs(inputs->size());
    for (const nlohmann::json& item : *inputs)
      texts.push_back(read_pair(item, fmt::format("inputs[{}]", texts.size())));
  } else {
    texts.push_back(read_pair(*inputs, "inputs"));
  }
  ClassifyOptions options{.long_texts = read_long_texts(request)};
  if (request.boolean("raw_scores").value_or(false)) options.function = ScoreFunction::none;
  const auto results = co_await classify_texts(call, model, std::move(texts), options);
  const std::vector<std::string>& labels = call.slice<EncodersServer>().of(model).classifier.labels()->names();
  Json response = Json::array();
  for (const VectorResult& result : results) {
    response.push_back(labels_json(labels, result.values));
  }
  call.respond(is_batch ? response : response.front());
}

// Returns the ids of a text, with ranges if the tokenizer supports them.
Encoding with_ranges(const Tokenizer& tokenizer, const std::string& text) {
  return tokenizer.has_ranges() ? tokenizer.encode_with_ranges(text) : Encoding{tokenizer.encode(text)};
}

// Responds with the tokens of each text. Writes the JSON as text, because JSON values would need many times the memory.
asio::awaitable<void> tokenize(Call& call) {
  const JsonObject request = call.json();
  ServedModel& model = call.parts().models.any(request.string("model").value_or(""));
  const Tokenizer* tokenizer = model.model().tokenizer();
  if (tokenizer == nullptr) throw HttpError(400, fmt::format("model '{}' has no tokenizer", model.name()));
  std::vector<std::string> texts;
  for (const std::string& text : request.strings("inputs")) {
    std::string& tokens = texts.emplace_back("[");
    std::size_t counted = 0;
    const Encoding encoding = with_ranges(*tokenizer, text);
    for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
      poll_cancelled();
      if (tokens.size() > 1) tokens += ',';
      const std::int32_t id = encoding.ids[i];
      // Special tokens decode to an empty text, and have no range.
      const bool is_special = tokenizer->decode(std::span(&id, 1)).empty();
      const bool has_range =
          !encoding.ranges.empty() && i >= encoding.special_before && i + encoding.special_after < encoding.ids.size();
      const auto number = [&](std::size_t value) { return has_range ? std::to_string(value) : "null"; };
      const TextRange range = has_range ? encoding.ranges[i] : TextRange();
      tokens += fmt::format(R"({{"id":{},"text":{},"special":{},"start":{},"stop":{}}})", id,
                            to_text(tokenizer->piece(id, TextSide::source)), is_special, number(range.begin),
                            number(range.end));
      if (tokens.size() - counted >= kCountedBytes) call.count(tokens.size() - std::exchange(counted, tokens.size()));
    }
    tokens += ']';
    call.count(tokens.size() - counted);
  }
  call.respond_list("[", std::move(texts), "]");
  co_return;
}

asio::awaitable<void> decode(Call& call) {
  const JsonObject request = call.json();
  ServedModel& model = call.parts().models.any(request.string("model").value_or(""));
  Json response = Json::array();
  for (const std::string& text : read_texts(call, request, "ids", model)) response.push_back(text);
  call.respond(response);
  co_return;
}

constexpr std::array kRoutes = {
    Route{"POST", "/embed", &embed<EmbedOutput::dense>, &tei_error},
    Route{"POST", "/embed_sparse", &embed<EmbedOutput::sparse>, &tei_error},
    Route{"POST", "/embed_all", &embed<EmbedOutput::tokens>, &tei_error},
    Route{"POST", "/similarity", &similarity, &tei_error},
    Route{"POST", "/predict", &predict, &tei_error},
    Route{"POST", "/tokenize", &tokenize, &tei_error},
    Route{"POST", "/decode", &decode, &tei_error},
};

}  // namespace tei

std::span<const Route> tei_routes() {
  return tei::kRoutes;
}

}  // namespace encdec::serve
