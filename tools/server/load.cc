#include "server/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace encdec::serve {
namespace {

// Returns how much of `limit` one client may use; see Load.
std::size_t share_of(std::size_t limit, const std::string& client) {
  return client == "unix" ? std::numeric_limits<std::size_t>::max() : std::max<std::size_t>(limit * 3 / 4, 1);
}

}  // namespace

// A request's ticket. The ticket is in Load::arriving_ until the whole body has arrived; then it counts as a request.
class Load::Ticket final : public RequestTicket {
 public:
  Ticket(Load& load, Clients::value_type& client)
      : load_(load), client_(client), position_(load.arriving_.insert(load.arriving_.end(), this)) {
    ++client_.second.tickets;
  }
  ~Ticket() override {
    give_back_bytes();
    if (is_whole_) {
      load_.add_requests(client_.second, -1);
    } else {
      load_.arriving_.erase(position_);
    }
    if (--client_.second.tickets == 0) load_.clients_.erase(client_.first);
  }

  void add_bytes(std::size_t bytes) override {
    load_.make_room(*this, bytes);
    bytes_ += bytes;
    client_.second.bytes += bytes;
    load_.total_.bytes += bytes;
    load_.arriving_.splice(load_.arriving_.end(), load_.arriving_, position_);
  }
  void complete() override {
    load_.check_requests(client_);
    load_.arriving_.erase(position_);
    is_whole_ = true;
    load_.add_requests(client_.second, 1);
  }
  void refuse(const HttpError& error) {
    give_back_bytes();
    on_refused(error);
  }

  const Clients::value_type& client() const { return client_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void give_back_bytes() {
    client_.second.bytes -= bytes_;
    load_.total_.bytes -= bytes_;
    bytes_ = 0;
  }

  Load& load_;
  Clients::value_type& client_;
  std::list<Ticket*>::iterator position_;  // position in arriving_; valid until the whole body has arrived
  std::size_t bytes_ = 0;
  bool is_whole_ = false;
};

std::unique_ptr<RequestTicket> Load::admit(std::string_view client) {
  auto found = clients_.find(client);
  if (found == clients_.end()) found = clients_.emplace(client, Usage()).first;
  auto ticket = std::make_unique<Ticket>(*this, *found);
  check_requests(*found);
  return ticket;
}

class Load::SessionTicket final : public RequestTicket {
 public:
  SessionTicket(Load& load, std::string client) : load_(load), client_(std::move(client)) { add(1); }
  ~SessionTicket() override { add(-1); }
  void add_bytes(std::size_t /*bytes*/) override {}
  void complete() override {}

 private:
  void add(std::ptrdiff_t sessions) {
    const auto count = static_cast<std::size_t>(sessions);
    if ((load_.sessions_[client_] += count) == 0) load_.sessions_.erase(client_);
    load_.metrics_.set_live_sessions(load_.session_count_ += count);
  }

  Load& load_;
  std::string client_;
};

std::unique_ptr<RequestTicket> Load::admit_session(std::string_view client, const SessionLimit& limit) {
  const std::size_t share = share_of(limit.sessions, std::string(client));
  const auto own = sessions_.find(client);
  if (session_count_ >= limit.sessions || (own != sessions_.end() && own->second >= share)) {
    throw HttpError(429,
                    fmt::format("{} sessions are open, expected at most {} ({}), and {} of one client", session_count_,
                                limit.sessions, limit.option, share),
                    5);
  }
  return std::make_unique<SessionTicket>(*this, std::string(client));
}

void Load::check_requests(const Clients::value_type& client) const {
  const std::size_t limit = limits_.requests, share = share_of(limit, client.first);
  if (total_.requests >= limit) {
    throw full(fmt::format("{} requests wait or run, expected at most {} (--max-requests)", total_.requests, limit));
  }
  if (client.second.requests >= share) {
    throw full(
        fmt::format("this client has {} requests that wait or run, expected at most {} of the {} of --max-requests",
                    client.second.requests, share, limit));
  }
}

// Refuses other arriving bodies until `bytes` more bytes of the ticket's body fit into the limits. Throws HttpError,
// 429, if there is no other body to refuse. If no other body counts towards a limit, the ticket's body may exceed that
// limit: only --max-body-bytes limits a single body.
void Load::make_room(const Ticket& ticket, std::size_t bytes) {
  const auto& [name, client] = ticket.client();
  const std::size_t limit = limits_.total_request_bytes, share = share_of(limit, name);
  const auto exceeds = [&](const Usage& usage, std::size_t most) {
    return usage.bytes > ticket.bytes() && usage.bytes + bytes > most;
  };
  while (exceeds(client, share)) {
    const std::string reason = fmt::format(
        "this client has requests of {} bytes that wait or run, expected at most {} of the {} of "
        "all clients",
        client.bytes, share, limit);
    if (!refuse_slowest(ticket, &client, reason)) throw full(reason);
  }
  while (exceeds(total_, limit)) {
    const std::string reason =
        fmt::format("requests of {} bytes wait or run, expected at most {}", total_.bytes, limit);
    if (!refuse_slowest(ticket, nullptr, reason)) throw full(reason);
  }
}

// Refuses the arriving body that has made no progress for the longest time, except the body of `kept`. If `client` is
// not null, considers only that client's bodies. Returns false if there is no such body.
bool Load::refuse_slowest(const Ticket& kept, const Usage* client, const std::string& reason) {
  const auto slowest = std::ranges::find_if(arriving_, [&](const Ticket* ticket) {
    return ticket != &kept && ticket->bytes() > 0 && (client == nullptr || client == &ticket->client().second);
  });
  if (slowest == arriving_.end()) return false;
  (*slowest)->refuse(full("this body arrived more slowly than others: " + reason));
  return true;
}

// Returns an error whose Retry-After is the estimated time until half of the current requests have ended.
HttpError Load::full(const std::string& reason) const {
  constexpr double kLongest = 120;
  const double seconds = std::ceil(seconds_between_ends_ * static_cast<double>(total_.requests) / 2);
  return {429, reason, static_cast<int>(std::clamp(seconds, 1.0, kLongest))};
}

void Load::add_requests(Usage& client, std::ptrdiff_t requests) {
  client.requests += static_cast<std::size_t>(requests);
  total_.requests += static_cast<std::size_t>(requests);
  metrics_.set_requests(total_.requests);
  if (requests > 0) return;
  constexpr double kWeight = 0.1;
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - std::exchange(last_end_, now)).count();
  seconds_between_ends_ += kWeight * (seconds - seconds_between_ends_);
}

void UnreadResponses::Part::add(std::size_t bytes) {
  const MutexLock lock(responses_.mutex_);
  const auto known = responses_.clients_.find(client_);
  const std::size_t of_client = known != responses_.clients_.end() ? known->second : 0;
  const std::size_t share = responses_.limit_ - responses_.limit_ / 4;
  const bool has_room = responses_.total_ + bytes <= responses_.limit_ && of_client + bytes <= share;
  const bool is_alone = responses_.total_ == bytes_;
  if (!has_room && !is_alone && bytes_ + bytes > kSmall) {
    throw HttpError(503,
                    fmt::format("unread responses have {} bytes, {} of them for this client; expected at most {}, "
                                "and {} for one client",
                                responses_.total_, of_client, responses_.limit_, share),
                    1);
  }
  responses_.clients_[client_] = of_client + bytes;
  responses_.total_ += bytes;
  bytes_ += bytes;
}

UnreadResponses::Part::~Part() {
  if (bytes_ == 0) return;
  const MutexLock lock(responses_.mutex_);
  responses_.total_ -= bytes_;
  const auto known = responses_.clients_.find(client_);
  known->second -= bytes_;
  if (known->second == 0) responses_.clients_.erase(known);
}

}  // namespace encdec::serve
