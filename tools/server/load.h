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

// The maximum number of open WebSocket sessions, and the option that sets it.
struct SessionLimit {
  std::size_t sessions = 0;
  const char* option = "";
};

// Limits the number of requests that wait or run, and the total bytes of their bodies. One client may use at most
// three quarters of each limit, so that it cannot lock out the others. This share does not apply to a Unix socket,
// where a proxy may forward the requests of many clients. Not thread-safe.
class Load {
 public:
  // Keeps references.
  Load(const ServiceLimits& limits, Metrics& metrics) : limits_(limits), metrics_(metrics) {}
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // Returns a ticket for a request whose body has not arrived; `client` comes from client_of(). Throws HttpError, 429,
  // if there are too many requests. If a body exceeds a limit on bytes, the ticket refuses the arriving body that has
  // made no progress for the longest time. The Load must outlive the ticket.
  std::unique_ptr<RequestTicket> admit(std::string_view client);
  // Returns a ticket for a session. Sessions do not count as requests. Throws HttpError, 429, if there are too many.
  std::unique_ptr<RequestTicket> admit_session(std::string_view client, const SessionLimit& limit);

 private:
  class Ticket;
  class SessionTicket;
  struct Usage {
    std::size_t tickets = 0;
    std::size_t requests = 0;  // requests whose body has arrived
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
  Clients clients_;              // clients with at least one ticket
  std::list<Ticket*> arriving_;  // the ticket without progress for the longest time comes first
  Clock::time_point last_end_ = Clock::now();
  double seconds_between_ends_ = 0.1;  // moving average of the time between the ends of two requests
};

// Limits the bytes of responses that are being built or have not been read by their clients. One client may use at most
// three quarters of the limit. The only response may exceed the limit. Thread-safe.
class UnreadResponses {
 public:
  explicit UnreadResponses(std::size_t limit) : limit_(limit) {}

  // The bytes of one response or of one part of it. The destructor subtracts them from the total.
  class Part {
   public:
    Part(UnreadResponses& responses, std::uint64_t client) : responses_(responses), client_(client) {}
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    std::size_t bytes() const { return bytes_; }
    // Adds bytes. Throws HttpError, 503, if that exceeds the limit, unless bytes() stays within kSmall.
    void add(std::size_t bytes);

   private:
    UnreadResponses& responses_;
    std::uint64_t client_;
    std::size_t bytes_ = 0;
  };
  static constexpr std::size_t kSmall = 64 << 10;

 private:
  std::size_t limit_;
  Mutex mutex_;
  std::size_t total_ ENCDEC_GUARDED_BY(mutex_) = 0;
  std::map<std::uint64_t, std::size_t> clients_ ENCDEC_GUARDED_BY(mutex_);  // bytes by client, never 0
};

}  // namespace encdec::serve
