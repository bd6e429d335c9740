#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace encdec::serve {

// What a service tells Prometheus. All functions may be called from any thread.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // A request that was answered. `route` is a pattern, never what a client sent.
  void count_request(std::string_view route, int status, double seconds, bool is_cut);
  void count_tokens(const std::string& model, std::size_t read, std::size_t generated);
  void set_requests(std::size_t running);

  // The text that is scraped (text/plain; version=0.0.4).
  std::string text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace encdec::serve
