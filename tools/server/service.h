#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "server/call.h"
#include "server/http/server.h"
#include "server/load.h"
#include "server/metrics.h"
#include "server/served_model.h"
#include "server/settings.h"
#include "server/turns.h"

namespace encdec::serve {

// The application of the HTTP server: loads the models, checks each request and calls its handler.
class Service final : public HttpApplication {
 public:
  // Keeps a reference to `settings`. `is_loopback` is true if only processes of this machine can connect.
  Service(const ServeSettings& settings, bool is_loopback);
  ~Service() override;

  // Loads the models. Until load() returns, requests that need a model get status 503. Throws as Model::load() does.
  void load();
  // Refuses new requests. Accepted requests continue.
  void begin_draining() { is_draining_ = true; }
  // Cancels all requests without a response. REQUIRES: the HttpServer still exists.
  void stop();

  // Returns the response of /health: 200, or 503 if a busy model makes no progress.
  HttpResponse health() const;

  void examine(HttpRequest& head) const override;
  Admission admit(const HttpRequest& head) override;
  std::size_t body_limit(const HttpRequest& head) const override;
  void handle(std::shared_ptr<Exchange> exchange) override;
  HttpResponse refusal(const HttpRequest& request, const HttpError& error) override;
  void add_headers(const HttpRequest& request, HttpResponse& response) override;
  void on_request_done(const FinishedRequest& finished) override;
  void on_connections(std::size_t open, bool is_refused) override;

  const ModelSet& models() const { return models_; }

 private:
  std::optional<HttpResponse> immediate_response(const HttpRequest& head) const;
  HttpError unknown_path(std::string_view path) const;
  // Empty until all models are loaded.
  const ModelSet& ready_models() const;
  void check_key(const HttpRequest& head) const;
  void check_key(std::string_view given) const;
  asio::awaitable<void> run(std::shared_ptr<Call> call);

  const ServeSettings& settings_;
  bool is_loopback_;
  Metrics metrics_;
  UnreadResponses unread_;
  ModelSet models_;
  std::vector<Route> routes_;
  Load load_{settings_.limits, metrics_};
  std::atomic<bool> is_ready_ = false;
  std::atomic<bool> is_draining_ = false;
  std::atomic<bool> has_stopped_ = false;
  std::optional<Turns> turns_;  // handler threads
};

}  // namespace encdec::serve
