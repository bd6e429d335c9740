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

// The parts of the service that all handlers share.
struct ServiceParts {
  const ServeSettings& settings;
  const ModelSet& models;
  Metrics& metrics;
  UnreadResponses& unread;
  const std::atomic<bool>& is_draining;  // new requests are refused
  const std::atomic<bool>& has_stopped;  // running requests are cancelled
};

// One request and its handler, a coroutine that runs on one handler thread at a time. If the handler throws, the
// client gets the exception as an error in the format of the route.
class Call : public std::enable_shared_from_this<Call> {
 public:
  // The handler runs on `turns`. A CancellationScope cancels the handler at the deadline, after the client has
  // disconnected, or after the service has stopped.
  Call(const ServiceParts& parts, std::shared_ptr<Exchange> exchange, Turns& turns);

  const ServiceParts& parts() const { return parts_; }
  const ServiceLimits& limits() const { return parts_.settings.limits; }
  const HttpRequest& request() const { return exchange_->request(); }
  // Returns the service's instance of class Slice. REQUIRES: the build contains the slice.
  template <class Slice>
  Slice& slice() const {
    for (const auto& slice : parts_.settings.slices) {
      if (auto* const found = dynamic_cast<Slice*>(slice.get())) return *found;
    }
    throw std::bad_cast();
  }
  const asio::any_io_executor& executor() const { return executor_; }
  // Returns the number to pass as `client` to RequestQueue::submit().
  std::uint64_t client() const { return client_; }
  // Returns the body, which must be a JSON object. Throws HttpError, 400 or 415.
  JsonObject json() const;

  // Throws HttpError, 413, if `count` exceeds ServiceLimits::inputs.
  void check_inputs(std::size_t count) const;
  // Throws HttpError, 413, if the response could exceed ServiceLimits::response_bytes. Call it before generating.
  void check_response(const ServedModel& model, std::size_t inputs, const GenerateOptions& options) const;
  // Counts bytes of the response while it is built. Throws HttpError: 413 if the response exceeds
  // ServiceLimits::response_bytes, 503 if all responses exceed ServiceLimits::unread_bytes.
  void count(std::size_t bytes);

  // Generates from all inputs and returns the results in input order. Calls `on_result`, if set, for each result as
  // soon as it is finished.
  using OnResult = std::function<void(std::size_t input, GenerateResult& result)>;
  asio::awaitable<std::vector<GenerateResult>> generate(ServedModel& model, std::vector<GenerateInput> inputs,
                                                        GenerateOptions options, OnResult on_result = {});
  // Starts one queue request for each input, so that GenerateWork::drop(i) cancels input i alone. The news of an input
  // are any number of FinalTokens, then a GenerateResult.
  using GenerateWork = Work<FinalTokens, GenerateResult>;
  GenerateWork start(ServedModel& model, std::span<const GenerateInput> inputs, const GenerateOptions& options);
  // Waits until `work` on `count` inputs is done, and returns the results in input order. Calls `on_tokens` whenever
  // tokens become final. If `on_tokens` returns false, drops the input, whose result is then nullopt.
  using OnTokens = std::function<bool(std::size_t input, FinalTokens& tokens)>;
  asio::awaitable<std::vector<std::optional<GenerateResult>>> results(GenerateWork& work, std::size_t count,
                                                                      OnTokens on_tokens);
  // Waits for the next news of `work`, until the request's deadline. Throws as Work::next() does.
  template <class... Kinds>
  asio::awaitable<typename Work<Kinds...>::News> next(Work<Kinds...>& work) {
    return work.next(life_->deadline);
  }
  // Waits for the results of `count` sources. Returns them, and calls `on_result`, as generate() does.
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

  void respond(const nlohmann::ordered_json& json, int status = 200);
  // Sends JSON: `begin`, the elements with commas between them, `end`. Does not count bytes again that count() counted.
  void respond_list(std::string begin, std::vector<std::string> elements, const std::string& end);
  void send_response(HttpResponse response);
  // Sends an error. If part of the response was sent, the error follows as the last part.
  void refuse(HttpResponse response);
  // Sends a space, which may precede JSON, every five seconds until the response, for clients with a short timeout.
  // After the first space even an error has status 200.
  void keep_alive();
  // Accepts the client's WebSocket. `protocol`, if not empty, is sent as Sec-WebSocket-Protocol. `on_message` is
  // called on the network thread, once for each ask_message(). `end` replaces the request's deadline.
  void open_socket(std::string_view protocol, std::function<void(std::string message, bool is_text)> on_message,
                   Clock::time_point end);
  void ask_message() { exchange_->ask(); }
  void send_message(const nlohmann::ordered_json& json);
  // Closes the WebSocket with a code of RFC 6455, section 7.4.
  void close_socket(int code, const std::string& reason);
  // Server-sent events of one line each (WHATWG HTML, section 9.2).
  // Order of calls: begin_events (send_event | send_line)* finish
  void begin_events();
  void send_event(const nlohmann::ordered_json& json);
  void send_line(std::string_view line);
  void finish() { exchange_->finish(); }

  // Cancels the handler because the client has disconnected. Thread-safe.
  void abandon();
  // Returns the slot by which abandon() cancels the coroutine.
  asio::cancellation_slot slot() { return abandoned_.slot(); }

 private:
  // Conditions that end the handler, shared with its tasks and the network thread.
  struct Life {
    std::atomic<Clock::time_point> deadline;
    std::atomic<bool> is_abandoned = false;
    std::atomic<bool> is_large = false;  // the request body or the last WebSocket message is large; see Turns
  };

  Turns::Owner owner() const;
  std::shared_ptr<UnreadResponses::Part> new_part() const;
  void write(std::string bytes);
  static asio::awaitable<void> write_spaces(std::shared_ptr<Call> call);

  ServiceParts parts_;
  std::shared_ptr<Exchange> exchange_;
  std::uint64_t client_;
  std::shared_ptr<Life> life_;
  asio::any_io_executor executor_;
  std::shared_ptr<UnreadResponses::Part> counted_;  // bytes of the response so far
  asio::steady_timer space_timer_;                  // time of keep_alive()'s next space
  bool is_socket_ = false;                          // open_socket() was called
  bool has_spaces_ = false;                         // keep_alive() has sent the response's first bytes
  bool is_over_ = false;                            // the response is complete: keep_alive() stops
  asio::cancellation_signal abandoned_;
};

// Formats an error as a protocol's clients expect it.
using ErrorFormat = HttpResponse (*)(const HttpError& error, const HttpRequest& request);

// The handler for a method and a path.
struct Route {
  std::string_view method;
  std::string_view path;  // an asterisk at the end matches any text: "/v1/models/*"
  asio::awaitable<void> (*handle)(Call& call);
  ErrorFormat error;

  // Where the client may send its API key.
  enum class Key : std::uint8_t {
    in_header,
    in_body,  // in a header, or in the body as api_key
    none,     // no key needed
  };
  Key key = Key::in_header;

  std::size_t body_bytes = 0;  // maximum size of the body; 0: HttpLimits::body_bytes
  SessionLimit limit = {};     // if sessions are allowed, the handler serves a WebSocket
};

// A request's route and client, found from the header.
struct RouteMatch {
  const Route* route = nullptr;  // null if no route has the path
  std::string word;              // part of the path that the route's asterisk matched
  std::string other_methods;     // "GET, POST" if the path has routes, but none for the request's method
  std::string key;               // API key in the header; empty if there is none
  std::string client;            // client_of() the key and the client's address
};

// Returns the match that Service::examine() stored. All members are empty if the header was unreadable.
const RouteMatch& match_of(const HttpRequest& request);

std::span<const Route> native_routes();
std::span<const Route> openai_routes();
// Concatenates the routes of several protocols.
std::vector<Route> joined(std::initializer_list<std::span<const Route>> protocols);

// Replaces the folders of models in a message by their names, to hide the server's paths from clients.
std::string without_folders(std::string message, const ServeSettings& settings);

// Returns {"error": "..."}, the format of endpoints that belong to no other protocol.
HttpResponse plain_error(const HttpError& error, const HttpRequest& request);
// Returns {"error": {"message": "...", ...}}, the format of OpenAI's API.
HttpResponse openai_error(const HttpError& error, const HttpRequest& request);
// Returns {"error": "...", "error_type": "..."}, the format of text-embeddings-inference.
HttpResponse tei_error(const HttpError& error, const HttpRequest& request);

}  // namespace encdec::serve
