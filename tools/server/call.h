#pragma once

#include <encdec/models/checkpoint/json.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "common/json_arrays.h"
#include "server/http/exchange.h"
#include "server/load.h"
#include "server/served_model.h"
#include "server/settings.h"
#include "server/turns.h"
#include "server/work.h"

namespace encdec::serve {

using cli::to_text;

// The parts of the service that all handlers use.
struct ServiceParts {
  const ServeSettings& settings;
  const ModelSet& models;
  Metrics& metrics;
  UnreadAnswers& unread;
  const std::atomic<bool>& is_draining;  // no more requests are accepted
  const std::atomic<bool>& has_stopped;  // requests are no longer answered
};

// One request and its handler. The handler is a coroutine that runs on one thread of the service at a time. If it
// throws, the exception is the answer, in the form of the route.
class Call : public std::enable_shared_from_this<Call> {
 public:
  // The handler runs on `turns`, within a CancellationScope. Long computations in it are cancelled when the request's
  // time is over, the client has disconnected, or the service stops.
  Call(const ServiceParts& parts, std::shared_ptr<Exchange> exchange, Turns& turns);

  const ServiceParts& parts() const { return parts_; }
  const ServiceLimits& limits() const { return parts_.settings.limits; }
  const HttpRequest& request() const { return exchange_->request(); }
  // Returns the service's object of a class of slice. REQUIRES: the build has the slice.
  template <class Slice>
  Slice& slice() const {
    for (const auto& slice : parts_.settings.slices) {
      if (auto* const found = dynamic_cast<Slice*>(slice.get())) return *found;
    }
    throw std::bad_cast();
  }
  const asio::any_io_executor& executor() const { return executor_; }
  // Returns `client` of RequestQueue::submit().
  std::uint64_t client() const { return client_; }
  // Returns the body, which must be a JSON object. Throws HttpError, 400 or 415.
  JsonObject json() const;

  // Throws HttpError, 413, for more inputs than a request may have.
  void check_inputs(std::size_t count) const;
  // Throws HttpError, 413, if the answer could exceed ServiceLimits::answer_bytes. Call it before generating.
  void check_answer(const ServedModel& model, std::size_t inputs, const GenerateOptions& options) const;
  // Counts bytes of the answer as they are made. Throws HttpError: 413 if the answer exceeds
  // ServiceLimits::answer_bytes, 503 if all unread answers together exceed ServiceLimits::unread_bytes.
  void count(std::size_t bytes);

  // Generates from all inputs and returns the results in the order of the inputs. Calls `on_result`, unless it is
  // empty, for each result as soon as it is finished.
  using OnResult = std::function<void(std::size_t input, GenerateResult& result)>;
  asio::awaitable<std::vector<GenerateResult>> generate(ServedModel& model, std::vector<GenerateInput> inputs,
                                                        GenerateOptions options, OnResult on_result = {});
  // Starts generating from each input in a request of its own, so that drop() of its number cancels it. News for each
  // input: FinalTokens, and at the end a GenerateResult.
  using GenerateWork = Work<FinalTokens, GenerateResult>;
  GenerateWork start(ServedModel& model, std::span<const GenerateInput> inputs, const GenerateOptions& options);
  // Waits for the end of `work` on `count` inputs, and returns the results in the order of the inputs. Calls
  // `on_tokens` for tokens of an input as soon as they are final. If it returns false, the input is dropped: it has no
  // result.
  using OnTokens = std::function<bool(std::size_t input, FinalTokens& tokens)>;
  asio::awaitable<std::vector<std::optional<GenerateResult>>> results(GenerateWork& work, std::size_t count,
                                                                      OnTokens on_tokens);
  // Waits for news of `work`, until the request's time is over.
  template <class... Kinds>
  asio::awaitable<typename Work<Kinds...>::News> next(Work<Kinds...>& work) {
    return work.next(life_->deadline);
  }
  // Waits for the results of `count` sources, and returns them in the order of the sources. Calls `on_result`, unless
  // it is empty, for each result as soon as it is finished.
  template <class Result, class... Kinds>
  asio::awaitable<std::vector<Result>> results_of(Work<Kinds...>& work, std::size_t count,
                                                  std::function<void(std::size_t, Result&)> on_result) {
    std::vector<Result> results(count);
    for (std::size_t i = 0; i < count; ++i) {
      auto news = co_await next(work);
      results[news.source] = std::get<Result>(std::move(news.what));
      if (on_result) on_result(news.source, results[news.source]);
    }
    co_return results;
  }

  // Answers with JSON.
  void respond(const nlohmann::ordered_json& json, int status = 200);
  // Answers with JSON built from `begin`, the elements of a list with commas between them, and `end`. Bytes that were
  // passed to count() before are not counted again.
  void respond_list(std::string begin, std::vector<std::string> elements, const std::string& end);
  // Sends a whole answer.
  void answer(HttpResponse response);
  // Answers with an error. If the answer has begun, the error is sent as its last part.
  void refuse(HttpResponse response);
  // Sends a space every five seconds until the answer, so that a client with a short timeout goes on waiting. JSON may
  // begin with spaces. After the first space the answer has status 200, even if it is an error.
  void keep_alive();
  // Accepts the client's WebSocket, with a value of Sec-WebSocket-Protocol unless it is empty. `on_message` is called
  // on the network's thread, once for each ask_message(). The handler may take until `end`.
  void open_socket(std::string_view protocol, std::function<void(std::string message, bool is_text)> on_message,
                   Clock::time_point end);
  void ask_message() { exchange_->ask(); }
  void send_message(const nlohmann::ordered_json& json);
  // Closes the WebSocket with a code of RFC 6455, section 7.4.
  void close_socket(int code, const std::string& reason);
  // Answers with server-sent events of one line each (WHATWG HTML, section 9.2). Order of calls:
  // begin_events (send_event or send_line)* finish.
  void begin_events();
  void send_event(const nlohmann::ordered_json& json);
  void send_line(std::string_view line);
  void finish() { exchange_->finish(); }

  // Cancels the handler, because the client has disconnected. Thread-safe.
  void abandon();
  // Returns the slot through which abandon() cancels the coroutine of the handler.
  asio::cancellation_slot slot() { return abandoned_.slot(); }

 private:
  // The reasons to end the handler. Shared with its tasks and the network's thread.
  struct Life {
    std::atomic<Clock::time_point> deadline;
    std::atomic<bool> is_abandoned = false;
    std::atomic<bool> is_large = false;  // its body, or its last message
  };

  Turns::Owner owner() const;
  std::shared_ptr<UnreadAnswers::Part> new_part() const;
  void write(std::string bytes);
  static asio::awaitable<void> write_spaces(std::shared_ptr<Call> call);

  ServiceParts parts_;
  std::shared_ptr<Exchange> exchange_;
  std::uint64_t client_;  // `client` of RequestQueue::submit()
  std::shared_ptr<Life> life_;
  asio::any_io_executor executor_;
  std::shared_ptr<UnreadAnswers::Part> counted_;  // bytes of the answer so far
  asio::steady_timer comfort_;
  bool is_socket_ = false;   // open_socket() was called
  bool has_spaces_ = false;  // keep_alive() has begun the answer
  bool is_over_ = false;     // the answer is complete, so keep_alive() must send no more spaces
  asio::cancellation_signal abandoned_;
};

// A function that writes an error in the form of a protocol.
using ErrorForm = HttpResponse (*)(const HttpError& error, const HttpRequest& request);

// A method and a path, and the handler for them.
struct Route {
  std::string_view method;
  std::string_view path;  // an asterisk at the end matches any word: "/v1/models/*"
  asio::awaitable<void> (*handle)(Call& call);
  ErrorForm error;

  // The place of the client's API key.
  enum class Key : std::uint8_t {
    in_header,
    in_body,  // in a header, or in the body as api_key
    none,     // no key needed
  };
  Key key = Key::in_header;

  std::size_t body_bytes = 0;  // maximum size of the body; 0: HttpLimits::body_bytes
  SessionLimit limit = {};     // if not 0, the handler serves a WebSocket
};

// The route of a request and who has sent it.
struct RouteMatch {
  const Route* route = nullptr;  // null if no route has the path
  std::string word;              // part of the path that matches the asterisk of the route's path
  std::string other_methods;     // "GET, POST" if the path has routes, but none with the method of the request
  std::string key;               // API key in the header; empty if there is none
  std::string client;            // name of the client: its key if that is valid, else its address
};

// Returns the facts that the service knows about a request. All members are empty if its header could not be read.
const RouteMatch& match_of(const HttpRequest& request);

std::span<const Route> native_routes();
std::span<const Route> openai_routes();
// Returns the routes of several protocols.
std::vector<Route> joined(std::initializer_list<std::span<const Route>> protocols);

// Returns a message with the names of models in place of their folders.
std::string without_folders(std::string message, const ServeSettings& settings);

// Returns {"error": "..."}, the form for addresses that belong to no protocol.
HttpResponse plain_error(const HttpError& error, const HttpRequest& request);
// Returns {"error": {"message": "...", ...}}, the form of OpenAI's API.
HttpResponse openai_error(const HttpError& error, const HttpRequest& request);
// Returns {"error": "...", "error_type": "..."}, the form of text-embeddings-inference.
HttpResponse tei_error(const HttpError& error, const HttpRequest& request);

}  // namespace encdec::serve
