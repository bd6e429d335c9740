#include "server/call.h"

#include <encdec/models/generation/generation_settings.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/parse_number.h"
#include "server/http/form.h"

namespace encdec::serve {
namespace {

// A request is large if the body or the last WebSocket message has more bytes than this; see Turns.
constexpr std::size_t kLargeBody = 64 << 10;

// Returns the request's deadline: `longest` from now, or sooner if the client sent a shorter X-Request-Timeout-Ms.
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
      space_timer_(executor_) {
  life_->deadline = deadline_of(exchange_->request(), parts.settings.limits.request_time);
  life_->is_large = request().body.size() > kLargeBody;
}

Turns::Owner Call::owner() const {
  return {.client = client_,
          .is_large = {life_, &life_->is_large},
          .check = std::make_shared<const std::function<void()>>([life = life_, &has_stopped = parts_.has_stopped] {
            if (life->is_abandoned) throw HttpError(499, "the client has disconnected");
            if (has_stopped) throw HttpError(503, "the server is shutting down");
            if (Clock::now() > life->deadline.load()) throw timeout_error();
          })};
}

JsonObject Call::json() const {
  const std::string type = media_type(request().headers["content-type"]);
  // Any other type is read as JSON: some clients send no type, and curl -d sends the type of a form.
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
    self->space_timer_.cancel();
    self->abandoned_.emit(asio::cancellation_type::terminal);
  });
}

void Call::check_inputs(std::size_t count) const {
  if (count <= limits().inputs) return;
  throw HttpError(413, fmt::format("{} inputs, expected at most {}", count, limits().inputs));
}

void Call::check_response(const ServedModel& model, std::size_t inputs, const GenerateOptions& options) const {
  // The estimated bytes of JSON for one token: kToken for the token's text, id and score, and kCandidate for each of
  // its top_log_probs, including the field names.
  constexpr std::size_t kToken = 8, kCandidate = 28;
  const GenerateOptions all = model.model().generation_config() | options;
  auto tokens = static_cast<std::size_t>(new_token_limit(all, 0));
  if (const auto positions = model.model().config().decoder.position_limit()) {
    tokens = std::min(tokens, static_cast<std::size_t>(*positions));
  }
  const auto sequences = static_cast<std::size_t>(all.num_return_sequences.value_or(1));
  const std::size_t size = kToken + kCandidate * static_cast<std::size_t>(options.top_log_probs);
  const std::size_t bytes = inputs * sequences * tokens * size;
  if (bytes <= limits().response_bytes) return;
  throw HttpError(413, fmt::format("{} inputs x {} sequences x {} tokens x {} bytes ({}, and {} for each of {} "
                                   "top_log_probs) are {} bytes, expected at most {}",
                                   inputs, sequences, tokens, size, kToken, kCandidate, options.top_log_probs, bytes,
                                   limits().response_bytes));
}

std::shared_ptr<UnreadResponses::Part> Call::new_part() const {
  return std::make_shared<UnreadResponses::Part>(parts_.unread, client_);
}

void Call::count(std::size_t bytes) {
  if (counted_->bytes() + bytes > limits().response_bytes) {
    throw HttpError(413, fmt::format("a response of more than {} bytes, expected fewer", limits().response_bytes));
  }
  counted_->add(bytes);
}

asio::awaitable<std::vector<GenerateResult>> Call::generate(ServedModel& model, std::vector<GenerateInput> inputs,
                                                            GenerateOptions options, OnResult on_result) {
  check_response(model, inputs.size(), options);
  const auto count = [](const ModelMetrics& metrics, const GenerateResult& result, double seconds) {
    std::size_t longest = 0;
    for (const Hypothesis& hypothesis : result.hypotheses) {
      metrics.generated_tokens(static_cast<double>(hypothesis.token_ids.size()));
      longest = std::max(longest, hypothesis.token_ids.size());
    }
    if (longest > 0) metrics.token_seconds(seconds / static_cast<double>(longest));
  };
  GenerateWork work(executor_);
  const auto states = std::make_shared<SourceStates>(inputs.size());
  GenerateHandlers handlers = work.handlers<GenerateResult>(model.metrics(), states, 0, count);
  work.add(model.queue().submit(inputs, options, std::move(handlers), client_));
  co_return co_await results_of<GenerateResult>(work, inputs.size(), on_result);
}

Call::GenerateWork Call::start(ServedModel& model, std::span<const GenerateInput> inputs,
                               const GenerateOptions& options) {
  check_response(model, inputs.size(), options);
  GenerateWork work(executor_);
  const ModelMetrics& metrics = model.metrics();
  const auto count = [](const ModelMetrics& all, const GenerateResult& result, double seconds) {
    const std::size_t tokens = result.hypotheses.front().token_ids.size();
    if (tokens > 0) all.token_seconds(seconds / static_cast<double>(tokens));
  };
  // Submit each input as a separate request, whose callbacks put tokens and the result into the mailbox.
  for (std::size_t number = 0; number < inputs.size(); ++number) {
    const auto states = std::make_shared<SourceStates>(1);
    GenerateHandlers handlers = work.handlers<GenerateResult>(metrics, states, number, count);
    handlers.on_tokens = [news = work.news(), &metrics, states, number, begin = Clock::now()](
                             std::size_t, std::span<const std::int32_t> tokens, std::span<const float> scores) {
      SourceState& state = states->front();
      if (!std::exchange(state.has_first_token, true)) metrics.first_token_seconds(seconds_since(begin));
      metrics.generated_tokens(static_cast<double>(tokens.size()));
      news->put({number, FinalTokens{.ids = TokenIds(tokens.begin(), tokens.end()),
                                     .scores = std::vector<float>(scores.begin(), scores.end()),
                                     .source_tokens = state.tokens}});
    };
    work.add(model.queue().submit(inputs.subspan(number, 1), options, std::move(handlers), client_));
  }
  return work;
}

asio::awaitable<std::vector<std::optional<GenerateResult>>> Call::results(GenerateWork& work, std::size_t count,
                                                                          OnTokens on_tokens) {
  std::vector<std::optional<GenerateResult>> results(count);
  std::vector<bool> is_done(count);
  for (std::size_t left = count; left > 0;) {
    auto news = co_await next(work);
    if (is_done[news.source]) continue;  // ignore tokens that were generated before drop() took effect
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

void Call::send_response(HttpResponse response) {
  // Count the bytes that were not already counted while the response was built.
  const std::size_t bytes = response.body_bytes();
  if (bytes > counted_->bytes()) count(bytes - counted_->bytes());
  response.held = counted_;
  is_over_ = true;
  space_timer_.cancel();
  if (!has_spaces_) return exchange_->respond(std::move(response));
  // keep_alive() has already begun the response, so append the body.
  exchange_->write(std::move(response.body), counted_);
  for (std::string& part : response.more) exchange_->write(std::move(part), counted_);
  exchange_->finish(response.status);
}

void Call::refuse(HttpResponse response) {
  counted_ = new_part();  // the result is not sent, so its bytes no longer count
  if (is_socket_) return close_socket(1011, "internal error");
  if (has_spaces_ || !exchange_->has_response()) return send_response(std::move(response));
  send_line(response.body);
  exchange_->finish(response.status);
}

void Call::keep_alive() {
  asio::co_spawn(executor_, write_spaces(shared_from_this()), asio::detached);
}

asio::awaitable<void> Call::write_spaces(std::shared_ptr<Call> call) {
  constexpr std::chrono::seconds kInterval{5};
  while (!call->is_over_ && !call->life_->is_abandoned) {
    call->space_timer_.expires_after(kInterval);
    const auto [error] = co_await call->space_timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (error || call->is_over_ || call->life_->is_abandoned) co_return;
    if (!std::exchange(call->has_spaces_, true)) call->exchange_->begin({});
    call->exchange_->write(" ");
  }
}

void Call::respond(const nlohmann::ordered_json& json, int status) {
  send_response({.status = status, .body = to_text(json)});
}

void Call::respond_list(std::string begin, std::vector<std::string> elements, const std::string& end) {
  for (std::size_t i = 1; i < elements.size(); ++i) elements[i].insert(0, 1, ',');
  elements.push_back(end);
  send_response({.body = std::move(begin), .more = std::move(elements)});
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
