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

// The application behind the server: it loads the models, checks each request, and calls the handler of its route.
class Service final : public HttpApplication {
 public:
  // Keeps a reference to `settings`. `is_loopback` says that only processes of this machine can connect.
  Service(const ServeSettings& settings, bool is_loopback);
  ~Service() override;

  // Loads the models. Until it returns, requests get status 503. Throws as Model::load() does.
  void load();
  // Refuses later requests. Requests that are accepted go on.
  void begin_draining() { is_draining_ = true; }
  // Ends all requests without an answer. REQUIRES: the HttpServer still exists.
  void stop();

  // Returns the answer of /health: 200, or 503 if a busy model makes no progress.
  HttpResponse health() const;

  void examine(HttpRequest& head) const override;
  Admission admit(const HttpRequest& head) override;
  std::size_t body_limit(const HttpRequest& head) const override;
  void handle(std::shared_ptr<Exchange> exchange) override;
  HttpResponse refusal(const HttpRequest& request, const HttpError& error) override;
  void add_headers(const HttpRequest& request, HttpResponse& response) override;
  void on_answered(const Answered& answered) override;
  void on_connections(std::size_t open, bool is_refused) override;

  const ModelSet& models() const { return models_; }

 private:
  std::optional<HttpResponse> answer_at_once(const HttpRequest& head) const;
  HttpError unknown_path(std::string_view path) const;
  // Returns the models; none until all are loaded.
  const ModelSet& ready_models() const;
  void check_key(const HttpRequest& head) const;
  void check_key(std::string_view given) const;
  asio::awaitable<void> run(std::shared_ptr<Call> call);

  const ServeSettings& settings_;
  bool is_loopback_;
  Metrics metrics_;
  UnreadAnswers unread_;
  ModelSet models_;
  std::vector<Route> routes_;
  Load load_{settings_.limits, metrics_};
  std::atomic<bool> is_ready_ = false;
  std::atomic<bool> is_draining_ = false;
  std::atomic<bool> has_stopped_ = false;
  std::optional<Turns> turns_;  // the threads of the handlers
};

}  // namespace encdec::serve
