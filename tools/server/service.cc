#include "server/service.h"

#include <encdec/engine/base/cancellation.h>
#include <encdec/engine/base/error.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <new>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "server/access.h"
#include "server/http/form.h"
#include "server/parameters.h"
#include "slice.h"

namespace encdec::serve {
namespace {

// Returns whether `path` matches `pattern`. An asterisk at the end of the pattern matches any text that is not empty,
// even with slashes. Sets `word` to the matched text, percent-decoded.
bool matches(std::string_view pattern, std::string_view path, std::string& word) {
  if (!pattern.ends_with('*')) return pattern == path;
  pattern.remove_suffix(1);
  if (!path.starts_with(pattern) || path == pattern) return false;
  word = percent_decoded(path.substr(pattern.size()));
  return true;
}

// Returns whether a path is a probe. Probes are served on the network thread, so that busy handlers do not delay them.
bool is_probe(std::string_view path) {
  return path == "/health" || path == "/ping" || path == "/ready";
}

// Adds the time after which the client may retry, in the standard header and in the header that OpenAI's client reads.
HttpResponse with_retry(HttpResponse response, const HttpError& error) {
  if (error.retry_after() > 0) {
    response.headers.emplace_back("Retry-After", std::to_string(error.retry_after()));
    response.headers.emplace_back("retry-after-ms", std::to_string(error.retry_after() * 1000));
  }
  return response;
}

// Returns the status and message that a client gets for a handler's exception.
HttpError http_error(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const HttpError& error) {
    return error;
  } catch (const InputError& error) {
    return {400, error.what()};
  } catch (const ConfigError& error) {
    return {400, error.what()};
  } catch (const TokenizerError& error) {
    return {400, error.what()};
  } catch (const ResourceError& error) {
    return {503, error.what(), 1};
  } catch (const std::bad_alloc& error) {
    return {503, message_of(error), 1};
  } catch (const Error& error) {
    return {500, error.what()};
  } catch (const std::exception& error) {
    return {500, fmt::format("internal error: {}", error.what())};
  }
}

}  // namespace

std::vector<std::shared_ptr<ServerSlice>> server_slices() {
  return {
#define ENCDEC_SLICE(name) name##_server_slice(),
#include "slices.inc"
#undef ENCDEC_SLICE
  };
}

Service::Service(const ServeSettings& settings, bool is_loopback)
    : settings_(settings), is_loopback_(is_loopback), unread_(settings.limits.unread_bytes) {
  turns_.emplace(kHandlerThreads);
  routes_ = joined({native_routes(), openai_routes()});
  for (const auto& slice : settings.slices) routes_ = joined({routes_, slice->routes()});
}

Service::~Service() {
  stop();
}

void Service::load() {
  const std::function<void()> check = [this] {
    if (is_draining_) throw Error("stopped while loading");
  };
  const CancellationScope scope(check);  // draining stops the loading
  for (const auto& slice : settings_.slices) slice->load(settings_);
  for (std::size_t number = 0; number < settings_.models.size(); ++number) {
    models_.add(std::make_unique<ServedModel>(number, settings_, metrics_));
    for (const auto& slice : settings_.slices) slice->add(*models_.all().back(), metrics_);
  }
  is_ready_ = true;
}

void Service::stop() {
  if (!turns_) return;
  has_stopped_ = true;
  turns_->stop();
  models_ = {};    // destroyed before turns_, because the models' workers write to mailboxes that use turns_
  turns_.reset();  // destroys the waiting handlers
}

const RouteMatch& match_of(const HttpRequest& request) {
  static const RouteMatch kNone;
  return request.facts != nullptr ? *static_cast<const RouteMatch*>(request.facts.get()) : kNone;
}

void Service::examine(HttpRequest& head) const {
  const auto match = std::make_shared<RouteMatch>();
  head.facts = match;
  match->key = key_in(head);
  match->client = client_of(match->key, head.peer, settings_.keys);
  const std::string_view method = head.method == "HEAD" ? std::string_view("GET") : head.method;
  for (const Route& route : routes_) {
    if (!matches(route.path, head.path, match->word)) continue;
    match->route = &route;
    if (route.method == method) {
      match->other_methods.clear();
      return;
    }
    if (!match->other_methods.empty()) match->other_methods += ", ";
    match->other_methods += route.method;
  }
}

HttpError Service::unknown_path(std::string_view path) const {
  std::set<std::string_view> paths = {"/health", "/ready"};
  for (const Route& route : routes_) paths.insert(route.path);
  return {404, fmt::format("unknown path '{}', expected one of {}", shown(path), fmt::join(paths, ", "))};
}

// Returns the response to a probe or a CORS preflight request; nullopt for other requests.
std::optional<HttpResponse> Service::immediate_response(const HttpRequest& head) const {
  if (head.method == "OPTIONS" && head.headers.find("access-control-request-method") != nullptr) {
    return HttpResponse{.status = 204,
                        .content_type = {},
                        .headers = {{"Access-Control-Allow-Methods", "GET, POST"},
                                    {"Access-Control-Allow-Headers", "Authorization, Content-Type, X-API-Key"},
                                    {"Access-Control-Max-Age", "86400"}}};
  }
  if (!is_probe(head.path)) return std::nullopt;
  if (head.method != "GET" && head.method != "HEAD") {
    HttpResponse refused = plain_error(HttpError(405, head.method + " is not allowed here"), head);
    refused.headers.emplace_back("Allow", "GET");
    return refused;
  }
  if (head.path != "/ready") return health();
  if (is_draining_) return HttpResponse{.status = 503, .body = R"({"status":"draining"})"};
  if (!is_ready_) return HttpResponse{.status = 503, .body = R"({"status":"loading"})"};
  return HttpResponse{.body = R"({"status":"ready"})"};
}

HttpResponse Service::health() const {
  for (const auto& model : ready_models().all()) {
    const auto silence = model->status().silence;
    if (silence <= settings_.limits.stall_time) continue;
    const std::string problem =
        fmt::format("model '{}' has made no progress for {:.0f} s", model->name(), silence.count());
    return {.status = 503, .body = to_text({{"status", "stalled"}, {"error", problem}})};
  }
  return {.body = R"({"status":"ok"})"};
}

const ModelSet& Service::ready_models() const {
  static const ModelSet kNone;
  return is_ready_ ? models_ : kNone;
}

void Service::check_key(std::string_view given) const {
  if (is_among(given, settings_.keys)) return;
  if (given.empty()) throw HttpError(401, "no key, expected Authorization: Bearer KEY or X-API-Key: KEY");
  throw HttpError(403, "unknown API key");
}

void Service::check_key(const HttpRequest& head) const {
  const RouteMatch& match = match_of(head);
  if (head.path == "/metrics") {
    if (!settings_.metrics_key.empty() && !is_among(match.key, {&settings_.metrics_key, 1})) {
      throw HttpError(401, "/metrics needs its key");
    }
    return;
  }
  if (settings_.keys.empty() || (match.route != nullptr && match.route->key == Route::Key::none)) return;
  const bool may_be_in_body = match.route != nullptr && match.route->key == Route::Key::in_body;
  if (!match.key.empty() || !may_be_in_body) check_key(match.key);
}

HttpApplication::Admission Service::admit(const HttpRequest& head) {
  if (auto response = immediate_response(head)) return {.response = std::move(response)};
  const RouteMatch& match = match_of(head);
  if (is_loopback_ && head.peer != "unix") check_host(head, settings_.allowed_hosts);
  check_origin(head, settings_.cors_origins);
  check_key(head);
  if (match.route == nullptr) throw unknown_path(head.path);
  if (!match.other_methods.empty()) throw HttpError(405, fmt::format("{} is not allowed here", head.method));
  if (is_draining_) throw HttpError(503, "the server is shutting down", 5);
  if (!is_ready_ && match.route->path != "/" && match.route->path != "/metrics") {
    throw HttpError(503, "the models are still being loaded", 2);
  }
  if (const SessionLimit& limit = match.route->limit; limit.sessions > 0) {
    return {.ticket = load_.admit_session(match.client, limit), .is_socket = true};
  }
  return {.ticket = load_.admit(match.client)};
}

std::size_t Service::body_limit(const HttpRequest& head) const {
  const Route* route = match_of(head).route;
  return route != nullptr && route->body_bytes > 0 ? route->body_bytes : settings_.http.body_bytes;
}

void Service::handle(std::shared_ptr<Exchange> exchange) {
  const ServiceParts parts{settings_, ready_models(), metrics_, unread_, is_draining_, has_stopped_};
  const auto call = std::make_shared<Call>(parts, exchange, *turns_);
  // Use a weak pointer, because the connection may outlive the call and the threads.
  exchange->on_abandoned = [weak = std::weak_ptr(call)] {
    if (const auto waiting = weak.lock()) waiting->abandon();
  };
  asio::co_spawn(call->executor(), run(call),
                 asio::bind_cancellation_slot(call->slot(), [call](const std::exception_ptr&) {}));
}

asio::awaitable<void> Service::run(std::shared_ptr<Call> call) {
  const RouteMatch& match = match_of(call->request());
  const Route& route = *match.route;
  std::exception_ptr failure;
  try {
    if (!settings_.keys.empty() && route.key == Route::Key::in_body && match.key.empty()) {
      check_key(Parameters(*call).text("api_key"));
    }
    co_await route.handle(*call);
    co_return;
  } catch (const boost::system::system_error&) {
    co_return;  // the client has disconnected
  } catch (...) {
    failure = std::current_exception();
  }
  HttpError error = http_error(failure);
  if (error.status() >= 500) spdlog::error("{}: {}", call->request().id, error.what());
  error = {error.status(), without_folders(error.what(), settings_), error.retry_after()};
  call->refuse(with_retry(route.error(error, call->request()), error));
}

// Does not replace a folder such as "." or "model", which could be part of any word and which reveals no path.
std::string without_folders(std::string message, const ServeSettings& settings) {
  for (const ModelArgument& model : settings.models) {
    const bool is_path =
        model.folder.find('/') != std::string::npos && model.folder.find_first_not_of("./") != std::string::npos;
    if (!is_path) continue;
    for (std::size_t position = message.find(model.folder); position != std::string::npos;
         position = message.find(model.folder, position + model.name.size())) {
      message.replace(position, model.folder.size(), model.name);
    }
  }
  return message;
}

HttpResponse Service::refusal(const HttpRequest& request, const HttpError& error) {
  const RouteMatch& match = match_of(request);
  // An unknown path gets the error format of a route with the same first word: "/v1/x" gets the format of "/v1/...".
  const std::string_view near = std::string_view(request.path).substr(0, request.path.find('/', 1));
  const auto neighbour = std::ranges::find_if(
      routes_, [near](const Route& route) { return near.size() > 1 && route.path.starts_with(near); });
  const ErrorFormat form = match.route != nullptr       ? match.route->error
                           : neighbour != routes_.end() ? neighbour->error
                                                        : &plain_error;
  HttpResponse response = form(error, request);
  if (error.status() == 405) response.headers.emplace_back("Allow", match.other_methods);
  return with_retry(std::move(response), error);
}

void Service::add_headers(const HttpRequest& request, HttpResponse& response) {
  response.headers.emplace_back("Server", "encdec");
  const std::string_view origin = request.headers["origin"];
  const std::string_view allowed = allowed_origin(origin, settings_.cors_origins);
  if (origin.empty() || allowed.empty()) return;
  response.headers.emplace_back("Access-Control-Allow-Origin", allowed);
  response.headers.emplace_back("Vary", "Origin");
}

void Service::on_request_done(const FinishedRequest& finished) {
  const RouteMatch& match = match_of(finished.request);
  const std::string& path = finished.request.path;
  const std::string_view route = match.route != nullptr ? match.route->path
                                 : is_probe(path)       ? std::string_view(path)
                                                        : std::string_view("-");
  metrics_.count_request(route, finished.status, finished.seconds, finished.is_aborted);
  if (settings_.quiet) return;
  if (settings_.log_json) {
    const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    const nlohmann::ordered_json line = {{"time", fmt::format("{:%FT%TZ}", now)},
                                         {"id", finished.request.id},
                                         {"peer", finished.request.peer},
                                         {"method", finished.request.method.substr(0, 16)},
                                         {"route", route},
                                         {"status", finished.status},
                                         {"seconds", finished.seconds},
                                         {"bytes", finished.bytes},
                                         {"abandoned", finished.is_aborted}};
    spdlog::info("{}", to_text(line));
  } else {
    spdlog::info("{} {} {} {} {:.3f} s, {} bytes{}", finished.request.peer, finished.request.method.substr(0, 16),
                 route, finished.status, finished.seconds, finished.bytes, finished.is_aborted ? ", abandoned" : "");
  }
}

void Service::on_connections(std::size_t open, bool is_refused) {
  metrics_.set_connections(open);
  if (is_refused) metrics_.count_refused_connection();
}

std::vector<Route> joined(std::initializer_list<std::span<const Route>> protocols) {
  std::vector<Route> routes;
  for (const auto& protocol : protocols) routes.insert(routes.end(), protocol.begin(), protocol.end());
  return routes;
}

HttpResponse plain_error(const HttpError& error, const HttpRequest& /*request*/) {
  return {.status = error.status(), .body = to_text({{"error", error.what()}})};
}

HttpResponse tei_error(const HttpError& error, const HttpRequest& /*request*/) {
  // text-embeddings-inference sends 422 instead of 400 and 424 instead of 500.
  const auto [status, type] = [&]() -> std::pair<int, const char*> {
    switch (error.status()) {
      case 400: return {422, "Validation"};
      case 424: return {424, "Backend"};
      case 429: return {429, "Overloaded"};
      case 500: return {424, "Backend"};
      case 503: return {503, "Unhealthy"};
      default: return {error.status(), "Validation"};
    }
  }();
  return {.status = status, .body = to_text({{"error", error.what()}, {"error_type", type}})};
}

}  // namespace encdec::serve
