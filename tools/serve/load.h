#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "serve/http/server.h"
#include "serve/metrics.h"
#include "serve/settings.h"

namespace encdec::serve {

// Requests that wait or run, and the bytes of all bodies that have arrived, within --max-requests and
// --max-request-bytes. One client has at most three quarters of each, so that it cannot keep all others out. Clients of
// a Unix socket have no such share: a proxy sends there what many clients ask for. Not thread-safe.
class Load {
 public:
  // Keeps references.
  Load(const ServiceLimits& limits, Metrics& metrics) : limits_(limits), metrics_(metrics) {}
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // A ticket for a request of `client` (see client_of) whose body has not arrived; the load must outlive it. Throws
  // HttpError, 429, where there are too many requests already. Room for bytes is made by refusing other bodies that
  // have not arrived whole, first the one that has gone longest without progress.
  std::unique_ptr<RequestTicket> admit(std::string_view client);

 private:
  class Ticket;
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
  Clients clients_;              // each has at least one ticket
  std::list<Ticket*> arriving_;  // the one that has gone longest without progress first
  Clock::time_point last_end_ = Clock::now();
  double seconds_between_ends_ = 0.1;  // moving average of requests
};

}  // namespace encdec::serve
