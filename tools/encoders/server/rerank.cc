// Reranking: /rerank of text-embeddings-inference (router/src/http, 1.9), and /v1/rerank and /v2/rerank of Jina and
// Cohere, which vLLM and infinity also have. A request with "texts" gets the response of text-embeddings-inference; a
// request with "documents" gets the response of Jina and Cohere.
#include <encdec/models/generation/generation_settings.h>
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/json_arrays.h"
#include "encoders/server/encoders_server.h"

namespace encdec::serve {
namespace rerank {

using Json = nlohmann::ordered_json;

// Returns an error with "detail", which Jina's clients read, and "message", which Cohere's clients read.
HttpResponse error_form(const HttpError& error, const HttpRequest& /*request*/) {
  return {.status = error.status(), .body = to_text({{"message", error.what()}, {"detail", error.what()}})};
}

struct Request {
  std::string query;
  std::vector<std::string> documents = {};
  int top_n = 0;
  ClassifyOptions options = {};
};

// Returns the text of a document, which is a string or an object with "text".
std::string text_of(const nlohmann::json& document, std::size_t index) {
  if (document.is_string()) return document.get<std::string>();
  if (document.is_object() && document.contains("text") && document["text"].is_string()) {
    return document["text"].get<std::string>();
  }
  throw HttpError(
      400, fmt::format("'documents[{}]' is {}, expected a text or an object with 'text'", index, document.type_name()));
}

// Reads a request whose documents are in the list `documents`.
Request read_request(const Call& call, const JsonObject& json, const char* documents) {
  Request request{.query = json.required_string("query")};
  const auto list = json.value().find(documents);
  if (list == json.value().end() || !list->is_array() || list->empty()) {
    throw HttpError(400, fmt::format("`{}` cannot be empty, expected a list of texts", documents));
  }
  call.check_inputs(list->size());
  for (const nlohmann::json& document : *list) request.documents.push_back(text_of(document, request.documents.size()));
  request.top_n = static_cast<int>(json.integer("top_n", {.min = 0, .max = kMaxTokenCount}).value_or(0));
  request.options.long_texts = read_long_texts(json);
  const bool raw = json.boolean("raw_scores").value_or(false);
  request.options.function = raw ? ScoreFunction::none : ScoreFunction::sigmoid;
  return request;
}

// Returns the scores of the documents. Adds the number of input tokens to `tokens`.
asio::awaitable<std::vector<float>> scores_of(Call& call, ServedModel& model, const Request& request,
                                              std::size_t& tokens) {
  const SharedText query(request.query);
  std::vector<TextPair> pairs;
  for (const std::string& document : request.documents) pairs.push_back({query, document});
  const auto results = co_await classify_texts(call, model, std::move(pairs), request.options);
  std::vector<float> scores;
  for (const VectorResult& result : results) {
    scores.push_back(result.values.front());
    tokens += result.source_tokens;
  }
  co_return scores;
}

// Responds like text-embeddings-inference: [{"index", "text", "score"}].
asio::awaitable<void> rank_texts(Call& call, const JsonObject& json) {
  const Request request = read_request(call, json, "texts");
  ServedModel& model = ranker_of(call, json.string("model").value_or(""));
  const bool has_text = json.boolean("return_text").value_or(false);
  std::size_t tokens = 0;
  const std::vector<float> scores = co_await scores_of(call, model, request, tokens);
  Json response = Json::array();
  for (const auto& [index, score] : ranked(scores, request.top_n)) {
    Json& item = response.emplace_back(Json{{"index", index}});
    if (has_text) item["text"] = request.documents[index];
    item["score"] = cli::short_number(score);
  }
  call.respond(response);
}

// Responds like Jina and Cohere. `version` is the version in the path; "2" never returns the documents.
asio::awaitable<void> rank_documents(Call& call, const JsonObject& json, const char* version) {
  const Request request = read_request(call, json, "documents");
  ServedModel& model = ranker_of(call, json.string("model").value_or(""));
  const bool has_text = *version == '1' && json.boolean("return_documents").value_or(true);
  std::size_t tokens = 0;
  const std::vector<float> scores = co_await scores_of(call, model, request, tokens);
  Json results = Json::array();
  for (const auto& [index, score] : ranked(scores, request.top_n)) {
    Json& item = results.emplace_back(Json{{"index", index}, {"relevance_score", cli::short_number(score)}});
    if (has_text) item["document"] = {{"text", request.documents[index]}};
  }
  call.respond({{"id", "rerank-" + random_id()},
                {"object", "list"},
                {"model", model.name()},
                {"results", std::move(results)},
                {"usage", {{"prompt_tokens", tokens}, {"total_tokens", tokens}}},
                {"meta", {{"api_version", {{"version", version}}}, {"billed_units", {{"search_units", 1}}}}}});
}

template <char version>
asio::awaitable<void> handle(Call& call) {
  static constexpr char kVersion[] = {version, 0};
  const JsonObject json = call.json();
  if (json.has("texts")) co_return co_await rank_texts(call, json);
  co_await rank_documents(call, json, kVersion);
}

constexpr std::array kRoutes = {
    Route{"POST", "/rerank", &handle<'1'>, &tei_error},
    Route{"POST", "/v1/rerank", &handle<'1'>, &error_form},
    Route{"POST", "/v2/rerank", &handle<'2'>, &error_form},
};

}  // namespace rerank

std::span<const Route> rerank_routes() {
  return rerank::kRoutes;
}

}  // namespace encdec::serve
