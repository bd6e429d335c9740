#pragma once

#include <encdec/models/model/request_queue.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace encdec::serve {

// The metrics of one model: functions that add a value. They refer to the Metrics.
struct ModelMetrics {
  using Add = std::function<void(double)>;
  Add source_tokens;        // tokens of each source that a worker starts
  Add generated_tokens;     // new final tokens
  Add queue_seconds;        // time of each source in the queue
  Add first_token_seconds;  // time from submit() to the first final tokens of each source
  Add token_seconds;        // time to finish each source / tokens of its longest hypothesis
};

// The metrics of a service, for Prometheus. Thread-safe.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Counts an answered request. `route` must be the path of a Route: paths that clients send would be too many labels.
  void count_request(std::string_view route, int status, double seconds, bool is_cut);
  // Sets the number of requests that wait or run.
  void set_requests(std::size_t running);
  void set_live_sessions(std::size_t open);
  void set_connections(std::size_t open);
  void count_refused_connection();
  ModelMetrics model(const std::string& name);
  // Return a function that adds a value to a metric of a model. It refers to this object.
  ModelMetrics::Add counter(const char* name, const char* help, const std::string& model);
  // Values are seconds.
  ModelMetrics::Add histogram(const char* name, const char* help, const std::string& model);

  // Returns all metrics in the format that Prometheus reads (text/plain; version=0.0.4). `queues` has the status of
  // each model's queue.
  std::string text(const std::map<std::string, QueueStatus>& queues) const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace encdec::serve
