#pragma once

#include <encdec/engine/base/mutex.h>

#include <cstddef>
#include <cstdint>
#include <map>

namespace encdec::serve {

// Counts the bytes of answers that are being made or wait to be read by their clients. A client may use at most three
// quarters of the limit. A single answer may exceed the limit if there is no other. Thread-safe.
class UnreadAnswers {
 public:
  explicit UnreadAnswers(std::size_t limit) : limit_(limit) {}

  // The bytes of one answer, or of a piece of an answer. The destructor subtracts them from the count.
  class Part {
   public:
    Part(UnreadAnswers& answers, std::uint64_t client) : answers_(answers), client_(client) {}
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    std::size_t bytes() const { return bytes_; }
    // Counts more bytes. Throws HttpError, 503, if that exceeds the limit. Never throws for up to kSmall bytes in all.
    void add(std::size_t bytes);

   private:
    UnreadAnswers& answers_;
    std::uint64_t client_;
    std::size_t bytes_ = 0;
  };
  static constexpr std::size_t kSmall = 64 << 10;

 private:
  std::size_t limit_;
  Mutex mutex_;
  std::size_t total_ ENCDEC_GUARDED_BY(mutex_) = 0;
  // Bytes of each client that has any.
  std::map<std::uint64_t, std::size_t> clients_ ENCDEC_GUARDED_BY(mutex_);
};

}  // namespace encdec::serve
