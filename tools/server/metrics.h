#pragma once

#include <encdec/models/model/request_queue.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace encdec::serve {

// The metrics of one model. Each member adds a value. The Metrics must outlive this object.
struct ModelMetrics {
  using Add = std::function<void(double)>;
  Add source_tokens;        // tokens of each source that a worker starts
  Add generated_tokens;     // new final tokens
  Add queue_seconds;        // time that each source waited in the queue
  Add first_token_seconds;  // time from submit() to the first final tokens of each source
  Add token_seconds;        // computing time of each source / tokens of its longest hypothesis
};

// The metrics of a service, for Prometheus. Thread-safe.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Counts a request that got a response. `route` is the path of a Route, because clients could send any number of
  // paths. `is_aborted`: the client disconnected before the end.
  void count_request(std::string_view route, int status, double seconds, bool is_aborted);
  void set_requests(std::size_t running);
  void set_live_sessions(std::size_t open);
  void set_connections(std::size_t open);
  void count_refused_connection();
  ModelMetrics model(const std::string& name);
  // Returns a function that adds to a counter of a model. This object must outlive it.
  ModelMetrics::Add counter(const char* name, const char* help, const std::string& model);
  // Like counter(), for a histogram of seconds.
  ModelMetrics::Add histogram(const char* name, const char* help, const std::string& model);

  // Returns all metrics in Prometheus's text format, version 0.0.4. `queues` has each model's status by name.
  std::string text(const std::map<std::string, QueueStatus>& queues) const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace encdec::serve
