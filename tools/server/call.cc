#include "server/call.h"

#include <encdec/models/generation/generation_settings.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/parse_number.h"
#include "server/http/form.h"

namespace encdec::serve {
namespace {

// A request with a longer body or message is large; see Turns.
constexpr std::size_t kLargeBody = 64 << 10;

// Returns the time by which a request must be answered: after `longest`, or earlier if the client asks for that.
Clock::time_point deadline_of(const HttpRequest& request, std::chrono::milliseconds longest) {
  const auto asked = cli::parse_number<std::int64_t>(request.headers["x-request-timeout-ms"]).value_or(0);
  return Clock::now() + (asked > 0 ? std::min(longest, std::chrono::milliseconds(asked)) : longest);
}

}  // namespace

Call::Call(const ServiceParts& parts, std::shared_ptr<Exchange> exchange, Turns& turns)
    : parts_(parts),
      exchange_(std::move(exchange)),
      client_(std::hash<std::string_view>()(match_of(exchange_->request()).client) | 1),
      life_(std::make_shared<Life>()),
      executor_(asio::make_strand(Turns::Executor(turns, owner()))),
      counted_(new_part()),
      comfort_(executor_) {
  life_->deadline = deadline_of(exchange_->request(), parts.settings.limits.request_time);
  life_->is_large = request().body.size() > kLargeBody;
}

Turns::Owner Call::owner() const {
  return {.client = client_,
          .is_large = {life_, &life_->is_large},
          .check = std::make_shared<const std::function<void()>>([life = life_, &has_stopped = parts_.has_stopped] {
            if (life->is_abandoned) throw HttpError(499, "the client has gone");
            if (has_stopped) throw HttpError(503, "the server is shutting down");
            if (Clock::now() > life->deadline.load()) throw out_of_time();
          })};
}

JsonObject Call::json() const {
  const std::string type = media_type(request().headers["content-type"]);
  // Other types are accepted as JSON: some clients send no type, and curl -d sends the type of a form.
  if (type == "multipart/form-data" || type.starts_with("image/") || type.starts_with("audio/")) {
    throw HttpError(415, fmt::format("a body of {}, expected application/json", type));
  }
  try {
    return {parse_json(request().body, "the request's body"), "the request's body"};
  } catch (const Error& error) {
    throw HttpError(400, error.what());
  }
}

void Call::abandon() {
  life_->is_abandoned = true;
  asio::post(executor_, [self = shared_from_this()] {
    self->comfort_.cancel();
    self->abandoned_.emit(asio::cancellation_type::terminal);
  });
}

void Call::check_inputs(std::size_t count) const {
  if (count <= limits().inputs) return;
  throw HttpError(413, fmt::format("{} inputs, expected at most {}", count, limits().inputs));
}

void Call::check_answer(const ServedModel& model, std::size_t inputs, const GenerateOptions& options) const {
  // Estimated bytes of JSON: kToken for the text, id and score of a token, kCandidate for each of its top_log_probs,
  // which have names of fields too.
  constexpr std::size_t kToken = 8, kCandidate = 28;
  const GenerateOptions all = model.model().generation_config() | options;
  auto tokens = static_cast<std::size_t>(new_token_limit(all, 0));
  if (const auto positions = model.model().config().decoder.position_limit()) {
    tokens = std::min(tokens, static_cast<std::size_t>(*positions));
  }
  const auto sequences = static_cast<std::size_t>(all.num_return_sequences.value_or(1));
  const std::size_t size = kToken + kCandidate * static_cast<std::size_t>(options.top_log_probs);
  const std::size_t bytes = inputs * sequences * tokens * size;
  if (bytes <= limits().answer_bytes) return;
  throw HttpError(413, fmt::format("{} inputs x {} sequences x {} tokens x {} bytes ({}, and {} for each of {} "
                                   "top_log_probs) are {} bytes, expected at most {}",
                                   inputs, sequences, tokens, size, kToken, kCandidate, options.top_log_probs, bytes,
                                   limits().answer_bytes));
}

std::shared_ptr<UnreadAnswers::Part> Call::new_part() const {
  return std::make_shared<UnreadAnswers::Part>(parts_.unread, client_);
}

void Call::count(std::size_t bytes) {
  if (counted_->bytes() + bytes > limits().answer_bytes) {
    throw HttpError(413, fmt::format("an answer of more than {} bytes, expected fewer", limits().answer_bytes));
  }
  counted_->add(bytes);
}

template <class Result>
asio::awaitable<std::vector<Result>> Call::results_of(Work& work, std::size_t count,
                                                      std::function<void(std::size_t, Result&)> on_result) {
  std::vector<Result> results(count);
  for (std::size_t i = 0; i < count; ++i) {
    WorkNews news = co_await next(work);
    results[news.source] = std::get<Result>(std::move(news.what));
    if (on_result) on_result(news.source, results[news.source]);
  }
  co_return results;
}

asio::awaitable<std::vector<GenerateResult>> Call::generate(ServedModel& model, std::vector<GenerateInput> inputs,
                                                            GenerateOptions options, OnResult on_result) {
  check_answer(model, inputs.size(), options);
  Work work = Work::generate(executor_, model, inputs, options, client_);
  co_return co_await results_of<GenerateResult>(work, inputs.size(), on_result);
}

asio::awaitable<std::vector<VectorResult>> Call::embed(ServedModel& model, std::vector<std::string> texts,
                                                       EmbedOptions options) {
  check_inputs(texts.size());
  constexpr std::size_t kNumber = 5;  // least bytes of a number in the answer, on average: those of base64
  Work work = Work::read(executor_, model, model.embedder(), texts, options, client_);
  const std::function<void(std::size_t, VectorResult&)> count_numbers = [this](std::size_t, VectorResult& result) {
    count(result.values.size() * kNumber);
  };
  auto results = co_await results_of<VectorResult>(work, texts.size(), count_numbers);
  if (!results.empty() && static_cast<std::size_t>(options.dimensions) > results.front().values.size()) {
    throw HttpError(
        400, fmt::format("'dimensions' is {}, expected at most {}", options.dimensions, results.front().values.size()));
  }
  co_return results;
}

asio::awaitable<std::vector<VectorResult>> Call::classify(ServedModel& model, std::vector<TextPair> texts,
                                                          ClassifyOptions options) {
  check_inputs(texts.size());
  Work work = Work::read(executor_, model, model.classifier(), texts, options, client_);
  const std::function<void(std::size_t, VectorResult&)> nothing;
  co_return co_await results_of<VectorResult>(work, texts.size(), nothing);
}

Work Call::start(ServedModel& model, std::span<const GenerateInput> inputs, const GenerateOptions& options) {
  check_answer(model, inputs.size(), options);
  return Work::stream(executor_, model, inputs, options, client_);
}

asio::awaitable<std::vector<std::optional<GenerateResult>>> Call::results(Work& work, std::size_t count,
                                                                          OnTokens on_tokens) {
  std::vector<std::optional<GenerateResult>> results(count);
  std::vector<bool> is_done(count);
  for (std::size_t left = count; left > 0;) {
    WorkNews news = co_await next(work);
    if (is_done[news.source]) continue;
    if (auto* tokens = std::get_if<FinalTokens>(&news.what)) {
      if (on_tokens(news.source, *tokens)) continue;
      work.drop(news.source);
    } else {
      results[news.source] = std::get<GenerateResult>(std::move(news.what));
    }
    is_done[news.source] = true;
    --left;
  }
  co_return results;
}

Work Call::start(ServedModel& model, Recording recording, const TranscribeOptions& options) {
  return Work::transcribe(executor_, model, std::move(recording), options, client_);
}

asio::awaitable<Transcript> Call::transcript(Work& work, OnSegments on_segments) {
  FinalSegments segments;
  for (;;) {
    WorkNews news = co_await next(work);
    if (auto* transcript = std::get_if<Transcript>(&news.what)) {
      transcript->segments = std::move(segments);
      co_return std::move(*transcript);
    }
    auto& fresh = std::get<FinalSegments>(news.what);
    if (on_segments) on_segments(fresh);
    std::ranges::move(fresh, std::back_inserter(segments));
  }
}

void Call::answer(HttpResponse response) {
  const std::size_t bytes = response.body_bytes();
  if (bytes > counted_->bytes()) count(bytes - counted_->bytes());
  response.held = counted_;
  is_over_ = true;
  comfort_.cancel();
  if (!has_spaces_) return exchange_->respond(std::move(response));
  exchange_->write(std::move(response.body), counted_);
  for (std::string& piece : response.more) exchange_->write(std::move(piece), counted_);
  exchange_->finish(response.status);
}

void Call::refuse(HttpResponse response) {
  counted_ = new_part();
  if (is_socket_) return close_socket(1011, "internal error");
  if (has_spaces_ || !exchange_->is_answered()) return answer(std::move(response));
  send_line(response.body);
  exchange_->finish(response.status);
}

void Call::keep_alive() {
  asio::co_spawn(executor_, write_spaces(shared_from_this()), asio::detached);
}

asio::awaitable<void> Call::write_spaces(std::shared_ptr<Call> call) {
  constexpr std::chrono::seconds kInterval{5};
  while (!call->is_over_ && !call->life_->is_abandoned) {
    call->comfort_.expires_after(kInterval);
    const auto [error] = co_await call->comfort_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (error || call->is_over_ || call->life_->is_abandoned) co_return;
    if (!std::exchange(call->has_spaces_, true)) call->exchange_->begin({});
    call->exchange_->write(" ");
  }
}

void Call::respond(const nlohmann::ordered_json& json, int status) {
  answer({.status = status, .body = to_text(json)});
}

void Call::respond_list(std::string begin, std::vector<std::string> elements, const std::string& end) {
  for (std::size_t i = 1; i < elements.size(); ++i) elements[i].insert(0, 1, ',');
  elements.push_back(end);
  answer({.body = std::move(begin), .more = std::move(elements)});
}

void Call::open_socket(std::string_view protocol, std::function<void(std::string, bool)> on_message,
                       Clock::time_point end) {
  is_socket_ = true;
  life_->deadline = end;
  exchange_->on_message = [life = life_, on_message = std::move(on_message)](std::string message, bool is_text) {
    life->is_large = message.size() > kLargeBody;
    on_message(std::move(message), is_text);
  };
  HttpResponse head;
  if (!protocol.empty()) head.headers.emplace_back("Sec-WebSocket-Protocol", protocol);
  exchange_->begin(std::move(head));
}

void Call::send_message(const nlohmann::ordered_json& json) {
  write(to_text(json));
}

void Call::close_socket(int code, const std::string& reason) {
  exchange_->close(code, reason);
}

void Call::begin_events() {
  exchange_->begin({.content_type = "text/event-stream", .headers = {{"Cache-Control", "no-cache"}}});
}

void Call::send_event(const nlohmann::ordered_json& json) {
  send_line(to_text(json));
}

void Call::send_line(std::string_view line) {
  write(fmt::format("data: {}\n\n", line));
}

void Call::write(std::string bytes) {
  const auto part = new_part();
  part->add(bytes.size());
  exchange_->write(std::move(bytes), part);
}

}  // namespace encdec::serve
