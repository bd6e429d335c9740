// Serves OpenAI's protocol: /v1/models and /v1/completions (platform.openai.com/docs/api-reference).
#include <encdec/models/generation/generation_settings.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <nlohmann/json.hpp>

#include "attention/labelled_attention.h"
#include "common/json_arrays.h"
#include "server/call.h"
#include "server/generation_request.h"
#include "server/stop_texts.h"

namespace encdec::serve {
namespace openai {

using Json = nlohmann::ordered_json;
using cli::to_array;

// Returns the "type" of an error with the given status.
const char* type_of(int status) {
  switch (status) {
    case 401:
    case 403: return "authentication_error";
    case 404: return "not_found_error";
    case 429: return "rate_limit_error";
    default: return status < 500 ? "invalid_request_error" : "server_error";
  }
}

Json model_json(const Call& call, const ServedModel& model) {
  Json entry = {{"id", model.name()}, {"object", "model"}, {"created", model.loaded_at()}, {"owned_by", "encdec"}};
  for (const auto& slice : call.parts().settings.slices) slice->describe(model, entry);
  return entry;
}

asio::awaitable<void> list_models(Call& call) {
  Json data = Json::array();
  for (const auto& model : call.parts().models.all()) data.push_back(model_json(call, *model));
  call.respond({{"object", "list"}, {"data", std::move(data)}});
  co_return;
}

asio::awaitable<void> one_model(Call& call) {
  call.respond(model_json(call, call.parts().models.any(match_of(call.request()).word)));
  co_return;
}

// Reads the options of /v1/completions. A positive temperature selects sampling; otherwise `n` results need `n` beams.
GenerateOptions completion_options(const JsonObject& request, const ServedModel& model, const ServiceLimits& limits) {
  GenerateOptions options;
  const auto read_int = [&](const char* key, int min, int max) -> std::optional<int> {
    const auto value = request.integer(key, {.min = min, .max = max});
    return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
  };
  options.max_new_tokens = read_int("max_tokens", 1, kMaxTokenCount);
  const auto temperature = request.number("temperature", {.min = 0, .max = 2});
  options.do_sample = temperature.has_value() && *temperature > 0;
  if (*options.do_sample) options.temperature = static_cast<float>(*temperature);
  if (const auto top_p = request.number("top_p", {.min = 0, .max = 1}); top_p && *options.do_sample) {
    options.top_p = static_cast<float>(*top_p);
  }
  if (const auto seed = request.integer("seed", {.min = 0})) options.seed = static_cast<std::uint64_t>(*seed);
  const auto n = read_int("n", 1, limits.beams);
  options.num_return_sequences = n.value_or(1);
  if (n && !*options.do_sample) {
    options.num_beams = std::max(*n, model.model().generation_config().num_beams.value_or(1));
  }
  options.top_log_probs = read_int("logprobs", 0, 20).value_or(0);
  // Refuse unsupported options that would change the result.
  for (const char* key : {"suffix", "best_of", "logit_bias"}) {
    if (request.has(key)) throw HttpError(400, fmt::format("'{}' is not supported", key));
  }
  for (const char* key : {"frequency_penalty", "presence_penalty"}) {
    if (request.number(key).value_or(0) != 0)
      throw HttpError(400, fmt::format("'{}' other than 0 is not supported", key));
  }
  check_options(options, limits);
  return options;
}

// The fields that all objects of one completion share.
struct Completion {
  std::string id = "cmpl-" + random_id();
  std::int64_t created = std::time(nullptr);
  std::string model;

  Json choices(Json list) const {
    return {{"id", id},
            {"object", "text_completion"},
            {"created", created},
            {"model", model},
            {"choices", std::move(list)}};
  }
  static Json choice(const std::string& text, std::size_t index, std::optional<FinishReason> reason) {
    return {{"text", text},
            {"index", index},
            {"logprobs", nullptr},
            {"finish_reason", reason ? Json(to_string(*reason)) : Json(nullptr)}};
  }
};

// Returns the value of "logprobs" for a choice.
Json log_probs(const Model& model, const Hypothesis& hypothesis) {
  Json tokens = Json::array(), likeliest = Json::array(), offsets = Json::array();
  std::size_t offset = 0;
  for (const std::string& text : cli::token_names(model, hypothesis.token_ids, TextSide::target)) {
    tokens.push_back(text);
    offsets.push_back(offset);
    offset += text.size();
  }
  for (const auto& token : hypothesis.top_log_probs) {
    Json scores = Json::object();
    for (const TokenScore& score : token) {
      scores[cli::token_name(model, score.token, TextSide::target)] = score.log_probability;
    }
    likeliest.push_back(std::move(scores));
  }
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", to_array(hypothesis.token_scores)},
          {"top_logprobs", std::move(likeliest)},
          {"text_offset", std::move(offsets)}};
}

Json usage_json(std::size_t read, std::size_t generated) {
  return {{"prompt_tokens", read}, {"completion_tokens", generated}, {"total_tokens", read + generated}};
}

// Reads "stop": a text or a list of up to four texts.
std::vector<std::string> read_stops(const JsonObject& request) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> stops = request.strings("stop");
  if (stops.size() > kMost)
    throw HttpError(400, fmt::format("'stop' has {} texts, expected at most {}", stops.size(), kMost));
  if (std::ranges::find(stops, "") != stops.end()) throw HttpError(400, "'stop' has an empty text");
  return stops;
}

// Truncates a hypothesis before its first stop text.
void cut(const Model& model, std::span<const std::string> stops, Hypothesis& hypothesis) {
  StoppedText text(model.tokenizer(), stops);
  const std::size_t count = text.push(hypothesis.token_ids);
  text.finish();
  if (!text.is_stopped()) return;
  hypothesis.text = text.text();
  hypothesis.finish_reason = FinishReason::stop;
  hypothesis.token_ids.resize(count);
  hypothesis.token_scores.resize(count);
  if (!hypothesis.top_log_probs.empty()) hypothesis.top_log_probs.resize(count);
}

// A result that grows with the final tokens of one prompt and ends at the first stop text.
// Order of calls: take* finish
class GrowingResult {
 public:
  GrowingResult(const Tokenizer* tokenizer, std::span<const std::string> stops) : text_(tokenizer, stops) {
    result_.hypotheses.emplace_back();
  }

  // Adds the tokens. If a token completes a stop text, leaves out the tokens after it. Returns the added tokens.
  Hypothesis take(FinalTokens& tokens) {
    Hypothesis fresh{.token_ids = std::move(tokens.ids), .token_scores = std::move(tokens.scores)};
    const std::size_t count = text_.push(fresh.token_ids);
    fresh.token_ids.resize(count);
    fresh.token_scores.resize(count);
    Hypothesis& best = result_.hypotheses.front();
    best.token_ids.insert(best.token_ids.end(), fresh.token_ids.begin(), fresh.token_ids.end());
    result_.source_tokens = tokens.source_tokens;
    if (text_.is_stopped()) best.text = text_.text();
    return fresh;
  }
  // Ends the result. `whole` is the result of the finished search; nullopt if the prompt was dropped at a stop text.
  void finish(std::optional<GenerateResult> whole) {
    if (text_.is_stopped()) return;
    text_.finish();
    if (text_.is_stopped()) {
      result_.hypotheses.front().text = text_.text();
    } else {
      result_ = *std::move(whole);
    }
  }
  bool is_stopped() const { return text_.is_stopped(); }
  std::string take_text() { return text_.take(); }
  const GenerateResult& result() const { return result_; }

 private:
  StoppedText text_;
  GenerateResult result_;
};

// Generates like Call::generate(), and ends each result before its first stop text. If each prompt has one result and
// no top_log_probs, generation itself stops at a stop text. Otherwise the finished results are truncated.
asio::awaitable<std::vector<GenerateResult>> generate_until(Call& call, ServedModel& model,
                                                            std::vector<GenerateInput> inputs, GenerateOptions options,
                                                            std::vector<std::string> stops) {
  if (stops.empty()) co_return co_await call.generate(model, inputs, options);
  std::vector<GenerateResult> results;
  if (options.num_return_sequences.value_or(1) > 1 || options.top_log_probs > 0) {
    results = co_await call.generate(model, inputs, options);
    for (GenerateResult& result : results) {
      for (Hypothesis& hypothesis : result.hypotheses) cut(model.model(), stops, hypothesis);
    }
    co_return results;
  }
  std::vector<GrowingResult> growing(inputs.size(), GrowingResult(model.model().tokenizer(), stops));
  Work work = call.start(model, inputs, options);
  const Call::OnTokens on_tokens = [&](std::size_t input, FinalTokens& tokens) {
    growing[input].take(tokens);
    return !growing[input].is_stopped();
  };
  auto whole = co_await call.results(work, inputs.size(), on_tokens);
  // A stop text may still appear in the last characters, which only finish() makes final.
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    growing[i].finish(std::move(whole[i]));
    results.push_back(growing[i].result());
  }
  co_return results;
}

// Streams a completion as events: new texts, the finish reason, the usage if `includes_usage`, and "[DONE]".
asio::awaitable<void> stream_completion(Call& call, ServedModel& model, const GenerateInput& input,
                                        const GenerateOptions& options, std::span<const std::string> stops,
                                        bool includes_usage) {
  const Completion completion{.model = model.name()};
  GrowingResult growing(model.model().tokenizer(), stops);
  Work work = call.start(model, std::span(&input, 1), options);
  call.begin_events();
  // Send an event for each new text.
  const Call::OnTokens on_tokens = [&](std::size_t, FinalTokens& tokens) {
    const Hypothesis fresh = growing.take(tokens);
    const std::string text = growing.is_stopped() ? std::string() : growing.take_text();
    Json choice = Completion::choice(text, 0, std::nullopt);
    const bool has_log_probs = options.top_log_probs > 0 && !fresh.token_ids.empty();
    if (has_log_probs) choice["logprobs"] = log_probs(model.model(), fresh);
    if (!text.empty() || has_log_probs) call.send_event(completion.choices({std::move(choice)}));
    return !growing.is_stopped();
  };
  // Wait for the end. Then send the last text with the finish reason, and the usage.
  auto whole = co_await call.results(work, 1, on_tokens);
  growing.finish(std::move(whole.front()));
  const GenerateResult& result = growing.result();
  const Hypothesis& best = result.hypotheses.front();
  call.send_event(completion.choices({Completion::choice(growing.take_text(), 0, best.finish_reason)}));
  if (includes_usage) {
    Json last = completion.choices(Json::array());
    last["usage"] = usage_json(result.source_tokens, best.token_ids.size());
    call.send_event(last);
  }
  call.send_line("[DONE]");
  call.finish();
}

asio::awaitable<void> completions(Call& call) {
  const JsonObject request = call.json();
  ServedModel& model = call.parts().models.generator(request.string("model").value_or(""));
  std::vector<GenerateInput> inputs = read_inputs(call, request, "prompt", model);
  if (inputs.empty()) throw HttpError(400, "'prompt' is missing or empty, expected a text");
  const GenerateOptions options = completion_options(request, model, call.limits());
  const std::vector<std::string> stops = read_stops(request);
  const bool echoes = request.boolean("echo").value_or(false);
  if (request.boolean("stream").value_or(false)) {
    if (inputs.size() != 1 || options.num_return_sequences.value_or(1) != 1 || echoes) {
      throw HttpError(400, "'stream' is for one prompt and one result, without 'echo'");
    }
    const auto stream_options = request.object("stream_options");
    const bool includes_usage = stream_options && stream_options->boolean("include_usage").value_or(false);
    co_return co_await stream_completion(call, model, inputs.front(), options, stops, includes_usage);
  }
  const auto results = co_await generate_until(call, model, inputs, options, stops);
  // Add one choice for each hypothesis. The choices of all prompts are numbered consecutively.
  Json choices = Json::array();
  std::size_t read = 0, generated = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    read += results[i].source_tokens;
    for (const Hypothesis& hypothesis : results[i].hypotheses) {
      const auto* prompt = std::get_if<std::string>(&inputs[i].source);
      const std::string text = echoes && prompt != nullptr ? *prompt + hypothesis.text : hypothesis.text;
      Json choice = Completion::choice(text, choices.size(), hypothesis.finish_reason);
      if (options.top_log_probs > 0) choice["logprobs"] = log_probs(model.model(), hypothesis);
      choices.push_back(std::move(choice));
      generated += hypothesis.token_ids.size();
    }
  }
  Json response = Completion{.model = model.name()}.choices(std::move(choices));
  response["usage"] = usage_json(read, generated);
  call.respond(response);
}

asio::awaitable<void> chat_completions(Call& /*call*/) {
  throw HttpError(404, "chat is not supported, expected /v1/completions, /v1/embeddings or translation");
  co_return;
}

constexpr std::array kRoutes = {
    Route{"GET", "/v1/models", &list_models, &openai_error},
    Route{"GET", "/v1/models/*", &one_model, &openai_error},
    Route{"POST", "/v1/completions", &completions, &openai_error},
    Route{"POST", "/v1/chat/completions", &chat_completions, &openai_error},
};

}  // namespace openai

HttpResponse openai_error(const HttpError& error, const HttpRequest& /*request*/) {
  const int status = error.status() == 403 ? 401 : error.status();
  const nlohmann::ordered_json code = status == 404   ? nlohmann::ordered_json("model_not_found")
                                      : status == 401 ? nlohmann::ordered_json("invalid_api_key")
                                                      : nlohmann::ordered_json(nullptr);
  return {.status = status,
          .body = to_text(
              {{"error",
                {{"message", error.what()}, {"type", openai::type_of(status)}, {"param", nullptr}, {"code", code}}}})};
}

std::span<const Route> openai_routes() {
  return openai::kRoutes;
}

}  // namespace encdec::serve
