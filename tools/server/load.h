#pragma once

#include <encdec/engine/base/mutex.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "server/http/server.h"
#include "server/metrics.h"
#include "server/settings.h"

namespace encdec::serve {

// The maximum number of sessions over WebSockets, and the option that sets it.
struct SessionLimit {
  std::size_t sessions = 0;
  const char* option = "";
};

// Counts the requests that wait or run, and the bytes of all bodies that have arrived, and keeps both within their
// limits. One client may use at most three quarters of each limit, so that it cannot shut out all other clients. A Unix
// socket has no such share: a proxy may send the requests of many clients to it. Not thread-safe.
class Load {
 public:
  // Keeps references.
  Load(const ServiceLimits& limits, Metrics& metrics) : limits_(limits), metrics_(metrics) {}
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // Returns a ticket for a request of `client` (see client_of) whose body has not arrived. The Load must outlive the
  // ticket. Throws HttpError, 429, if there are too many requests already. If bytes of a body exceed a limit, other
  // bodies that are still arriving are refused: first the body that has made no progress for the longest time.
  std::unique_ptr<RequestTicket> admit(std::string_view client);
  // Returns a ticket for a session, which does not count as a request. Throws HttpError, 429, if there are too many.
  std::unique_ptr<RequestTicket> admit_session(std::string_view client, const SessionLimit& limit);

 private:
  class Ticket;
  class SessionTicket;
  struct Usage {
    std::size_t tickets = 0;
    std::size_t requests = 0;  // only those with a whole body
    std::size_t bytes = 0;
  };
  using Clients = std::map<std::string, Usage, std::less<>>;

  void check_requests(const Clients::value_type& client) const;
  void make_room(const Ticket& ticket, std::size_t bytes);
  bool refuse_slowest(const Ticket& kept, const Usage* client, const std::string& reason);
  HttpError full(const std::string& reason) const;
  void add_requests(Usage& client, std::ptrdiff_t requests);

  const ServiceLimits& limits_;
  Metrics& metrics_;
  Usage total_;
  std::map<std::string, std::size_t, std::less<>> sessions_;  // number of sessions by client
  std::size_t session_count_ = 0;
  Clients clients_;              // each has at least one ticket
  std::list<Ticket*> arriving_;  // in the order of their last progress, oldest first
  Clock::time_point last_end_ = Clock::now();
  double seconds_between_ends_ = 0.1;  // moving average of the time from the end of a request to the next one
};

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
