#pragma once

#include <encdec/models/model/request_queue.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace prometheus {
class Counter;
class Histogram;
}  // namespace prometheus

namespace encdec::serve {

// What is told of one model.
struct ModelMetrics {
  prometheus::Counter &read, &generated, &audio_seconds;
  prometheus::Histogram &queue_seconds, &first_token_seconds, &token_seconds;

  // A source of so many tokens has its turn, so many seconds after its request was read.
  void count_start(std::size_t source_tokens, double seconds) const;
  // The first of its tokens are certain, so many seconds after that.
  void count_first_token(double seconds) const;
  // So many were generated.
  void count_tokens(std::size_t tokens) const;
  // It is finished, so many seconds after its turn came, its longest hypothesis of so many tokens.
  void count_result(std::size_t longest, double seconds) const;
  // A recording of so many seconds was transcribed.
  void count_recording(double seconds) const;
};

// What a service tells Prometheus. All functions may be called from any thread.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // A request that was answered. `route` is a pattern, never what a client sent.
  void count_request(std::string_view route, int status, double seconds, bool is_cut);
  void set_requests(std::size_t running);
  // Connections that are open, and one that found no place.
  void set_connections(std::size_t open);
  void count_refused_connection();
  // Those of a model; they last as long as this.
  ModelMetrics model(const std::string& name);

  // The text that is scraped (text/plain; version=0.0.4), with what each model's queue does.
  std::string text(const std::map<std::string, QueueStatus>& queues) const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace encdec::serve
