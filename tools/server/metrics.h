#pragma once

#include <encdec/models/model/request_queue.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace prometheus {
class Counter;
class Histogram;
}  // namespace prometheus

namespace encdec::serve {

// The metrics of one model.
struct ModelMetrics {
  prometheus::Counter &read, &generated;
  prometheus::Histogram &queue_seconds, &first_token_seconds, &token_seconds;

  // Counts a source that a worker starts. `seconds` is the time that the source has waited in the queue.
  void count_start(std::size_t source_tokens, double seconds) const;
  // Counts the first final tokens of a source. `seconds` is the time since the request was submitted.
  void count_first_token(double seconds) const;
  void count_tokens(std::size_t tokens) const;
  // Counts a finished source. `longest` is the number of tokens of its longest hypothesis. `seconds` is the time since
  // a worker started the source.
  void count_result(std::size_t longest, double seconds) const;
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
  // Returns the metrics of a model. They refer to this object.
  ModelMetrics model(const std::string& name);
  // Return a function that adds a value to a metric of a model. It refers to this object.
  std::function<void(double)> counter(const char* name, const char* help, const std::string& model);
  // The values are seconds.
  std::function<void(double)> histogram(const char* name, const char* help, const std::string& model);

  // Returns all metrics in the format that Prometheus reads (text/plain; version=0.0.4). `queues` has the status of
  // each model's queue.
  std::string text(const std::map<std::string, QueueStatus>& queues) const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace encdec::serve
