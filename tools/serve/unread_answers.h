#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace encdec::serve {

// Bytes of answers that are being made or wait to be read by their clients. A client has at most three quarters of the
// limit, unless it is alone. For any number of threads.
class UnreadAnswers {
 public:
  explicit UnreadAnswers(std::size_t limit) : limit_(limit) {}

  // The bytes of one answer, or of a piece of it; given back when it is destroyed.
  class Part {
   public:
    Part(UnreadAnswers& answers, std::uint64_t client) : answers_(answers), client_(client) {}
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    std::size_t bytes() const { return bytes_; }
    // Throws HttpError, 503, where there is no room; never for an answer of at most kSmall bytes.
    void add(std::size_t bytes);

   private:
    UnreadAnswers& answers_;
    std::uint64_t client_;
    std::size_t bytes_ = 0;
  };
  static constexpr std::size_t kSmall = 64 << 10;

 private:
  std::size_t limit_;
  std::mutex mutex_;
  std::size_t total_ = 0;
  std::map<std::uint64_t, std::size_t> clients_;  // with more than none
};

}  // namespace encdec::serve
