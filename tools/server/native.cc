// Serves encdec's own protocol: /v1/generate, with all GenerateOptions, n-best lists with scores, and alignments. Also
// serves /info, /metrics and the page at /.
#include <encdec/models/checkpoint/json_events.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "attention/labelled_attention.h"
#include "common/json_arrays.h"
#include "server/call.h"
#include "server/generation_request.h"
#include "server/metrics.h"
#include "server/stop_texts.h"

namespace encdec::serve {
namespace native {

using Json = nlohmann::ordered_json;
using cli::to_array;

// The HTML page at /. It sends requests to this server only.
constexpr std::string_view kPage =
#include "serve_page.html.inc"
    ;

// Returns the value of "alignment": attention weights of the selected heads, and the hard alignment in Pharaoh format.
Json alignment_json(const Model& model, const Hypothesis& hypothesis, const AttentionSelection& selection) {
  const cli::LabelledAttention attention = cli::label_generated(model, hypothesis, selection);
  attention.check();
  Json rows = Json::array();
  const auto weights = attention.weights_of(0);
  for (std::size_t query = 0; query < attention.queries.size(); ++query) {
    rows.push_back(to_array(weights.subspan(query * attention.keys.size(), attention.keys.size())));
  }
  return {{"target", attention.queries},
          {"source", attention.keys},
          {"weights", std::move(rows)},
          {"pharaoh", cli::hard_alignment(model, attention, hypothesis)}};
}

// Returns a hypothesis as JSON text. With up to 100 scores for each token, a JSON tree would need ten times the memory.
std::string hypothesis_text(const Model& model, const Hypothesis& hypothesis, const GenerateOptions& options,
                            bool has_scores) {
  Json json = {{"text", hypothesis.text},
               {"token_ids", hypothesis.token_ids},
               {"score", hypothesis.score},
               {"finish_reason", to_string(hypothesis.finish_reason)}};
  if (has_scores) json["token_scores"] = to_array(hypothesis.token_scores);
  std::string text = to_text(json);
  text.pop_back();  // remove the closing brace
  if (options.top_log_probs > 0) {
    text += R"(,"top_log_probs":[)";
    for (const std::vector<TokenScore>& token : hypothesis.top_log_probs) {
      if (text.back() != '[') text += ',';
      text += to_text(to_array(std::span(token)));
    }
    text += ']';
  }
  if (options.attention && !hypothesis.attention.maps.empty() && !hypothesis.token_ids.empty()) {
    text += R"(,"alignment":)" + to_text(alignment_json(model, hypothesis, *options.attention));
  }
  return text + '}';
}

std::string result_text(const Model& model, const GenerateResult& result, const GenerateOptions& options,
                        bool has_scores) {
  std::string text = R"({"hypotheses":[)";
  for (const Hypothesis& hypothesis : result.hypotheses) {
    if (&hypothesis != result.hypotheses.data()) text += ',';
    text += hypothesis_text(model, hypothesis, options, has_scores);
  }
  return text +
         fmt::format(R"(],"source_tokens":{},"source_truncated":{}}})", result.source_tokens, result.source_truncated);
}

// Streams the new text and tokens of one input. The last event has the whole result.
asio::awaitable<void> stream(Call& call, ServedModel& model, const GenerateInput& input, const GenerateOptions& options,
                             bool has_scores) {
  Work work = call.start(model, std::span(&input, 1), options);
  call.begin_events();
  StoppedText text(model.model().tokenizer());
  const Call::OnTokens on_tokens = [&](std::size_t, FinalTokens& tokens) {
    text.push(tokens.ids);
    Json event = {{"text", text.take()}, {"token_ids", tokens.ids}};
    if (has_scores) event["token_scores"] = to_array(tokens.scores);
    call.send_event(event);
    return true;
  };
  const auto results = co_await call.results(work, 1, on_tokens);
  text.finish();
  call.send_line(fmt::format(R"({{"text":{},"token_ids":[],"result":{}}})", to_text(text.take()),
                             result_text(model.model(), *results.front(), options, has_scores)));
  call.finish();
}

asio::awaitable<void> generate(Call& call) {
  const JsonObject request = call.json();
  for (const auto& item : request.value().items()) {
    constexpr std::array<std::string_view, 8> kKeys = {"model",      "inputs", "prefixes",     "drafts",
                                                       "parameters", "stream", "token_scores", "alignment"};
    if (std::ranges::find(kKeys, item.key()) == kKeys.end()) {
      throw HttpError(400, fmt::format("unknown key '{}', expected {}", item.key(), fmt::join(kKeys, ", ")));
    }
  }
  ServedModel& model = call.parts().models.generator(request.string("model").value_or(""));
  std::vector<GenerateInput> inputs = read_inputs(call, request, "inputs", model);
  if (inputs.empty()) throw HttpError(400, "'inputs' is missing or empty, expected texts or lists of token ids");
  // Reads prefixes or drafts. If the list is not empty, it must have as many elements as there are inputs.
  const auto read_targets = [&](const char* key, auto GenerateInput::*member) {
    const std::vector<GenerateInput> targets = read_inputs(call, request, key, model);
    if (!targets.empty() && targets.size() != inputs.size()) {
      throw HttpError(400,
                      fmt::format("{} {}, expected one for each of {} inputs", targets.size(), key, inputs.size()));
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
      std::visit([&](const auto& target) { inputs[i].*member = target; }, targets[i].source);
    }
  };
  read_targets("prefixes", &GenerateInput::prefix);
  read_targets("drafts", &GenerateInput::draft);
  GenerateOptions options;
  if (const auto parameters = request.object("parameters")) {
    options = read_options(call, *parameters, model);
  }
  if (request.boolean("alignment").value_or(false)) {
    options.attention = alignment_selection(model.model().config());
  }
  const bool has_scores = request.boolean("token_scores").value_or(false);
  if (request.boolean("stream").value_or(false)) {
    if (inputs.size() != 1) throw HttpError(400, "'stream' is for one input");
    co_return co_await stream(call, model, inputs.front(), options, has_scores);
  }
  // Convert each result to text as soon as the result is finished, then free the result.
  std::vector<std::string> results(inputs.size());
  const Call::OnResult write = [&](std::size_t input, GenerateResult& result) {
    results[input] = result_text(model.model(), result, options, has_scores);
    call.count(results[input].size());
    result = {};
  };
  co_await call.generate(model, std::move(inputs), options, write);
  call.respond_list(fmt::format(R"({{"model":{},"results":[)", to_text(model.name())), std::move(results), "]}");
}

// GET /info. Responds with the same fields as text-embeddings-inference, and with encdec's limits.
asio::awaitable<void> info(Call& call) {
  const ServedModel& model = call.parts().models.any(std::string(call.request().query["model"]));
  const auto positions = model.model().config().input_stack().position_limit();
  const ServeSettings& settings = call.parts().settings;
  const ServiceLimits& limits = settings.limits;
  Json type = {{"generation", Json::object()}};
  Json most = {{"max_body_bytes", settings.http.body_bytes},
               {"max_header_bytes", settings.http.header_bytes},
               {"max_header_fields", settings.http.header_fields},
               {"max_connections", settings.http.connections},
               {"max_requests", limits.requests},
               {"max_request_bytes", limits.total_request_bytes},
               {"max_answer_bytes", limits.response_bytes},
               {"max_unread_bytes", limits.unread_bytes},
               {"max_inputs", limits.inputs},
               {"max_beams", limits.beams},
               {"max_new_tokens", limits.new_tokens},
               {"max_json_depth", kMaxJsonDepth},
               {"max_text_bytes", kMaxJsonTokenBytes},
               {"request_timeout_ms", limits.request_time.count()}};
  // Let each slice set the model's type, and add the slice's numeric options whose names begin with max_.
  for (const auto& slice : settings.slices) {
    slice->set_type(model, type);
    for (const ServeOption& option : slice->options()) {
      auto* const* number = std::get_if<std::size_t*>(&option.value);
      std::string key(option.name + 2);
      std::ranges::replace(key, '-', '_');
      if (number != nullptr && key.starts_with("max_")) most[key] = **number;
    }
  }
  Json names = Json::array();
  for (const auto& other : call.parts().models.all()) names.push_back(other->name());
  call.respond({{"model_id", model.name()},
                {"model_sha", nullptr},
                {"model_dtype", to_string(model.model().precision())},
                {"backend", model.model().backend_of(model.model().precision())},
                {"served_model_name", model.name()},
                {"model_type", type},
                {"max_concurrent_requests", limits.requests},
                {"max_input_length", positions ? Json(*positions) : Json(nullptr)},
                {"max_batch_tokens", nullptr},
                {"max_batch_requests", settings.batch_size > 0 ? Json(settings.batch_size) : Json(nullptr)},
                {"max_client_batch_size", limits.inputs},
                {"auto_truncate", true},
                {"tokenization_workers", kHandlerThreads},
                {"version", ENCDEC_VERSION},
                {"models", names},
                {"limits", std::move(most)}});
  co_return;
}

asio::awaitable<void> metrics(Call& call) {
  std::map<std::string, QueueStatus> queues;
  for (const auto& model : call.parts().models.all()) queues.emplace(model->name(), model->status());
  call.send_response({.body = call.parts().metrics.text(queues), .content_type = "text/plain; version=0.0.4"});
  co_return;
}

asio::awaitable<void> page(Call& call) {
  call.send_response({.body = std::string(kPage),
                      .content_type = "text/html; charset=utf-8",
                      .headers = {{"Content-Security-Policy",
                                   "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' blob:; "
                                   "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
                                   "frame-ancestors 'none'"},
                                  {"X-Content-Type-Options", "nosniff"},
                                  {"Cache-Control", "no-cache"}}});
  co_return;
}

constexpr std::array kRoutes = {
    Route{"POST", "/v1/generate", &generate, &plain_error},
    Route{"GET", "/info", &info, &tei_error},
    Route{"GET", "/metrics", &metrics, &plain_error},
    Route{"GET", "/", &page, &plain_error, Route::Key::none},
};

}  // namespace native

std::span<const Route> native_routes() {
  return native::kRoutes;
}

}  // namespace encdec::serve
