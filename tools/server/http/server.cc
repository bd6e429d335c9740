#include "server/http/server.h"

#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cerrno>
#include <string_view>
#include <utility>

#include "server/http/connection.h"

namespace encdec::serve {
namespace {

constexpr std::chrono::seconds kFirstRequest{1};     // time for a new connection to send a request while draining
constexpr std::chrono::milliseconds kShortage{100};  // pause if accept() fails for lack of descriptors or memory

// Returns the numeric address of a client; "unix" for a Unix socket.
std::string address_of(const sockaddr_storage& name, socklen_t size) {
  std::array<char, NI_MAXHOST> host = {};
  const auto* address = reinterpret_cast<const sockaddr*>(&name);
  if (name.ss_family == AF_UNIX ||
      ::getnameinfo(address, size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return "unix";
  }
  return host.data();
}

}  // namespace

HttpServer::HttpServer(HttpApplication& application, const HttpLimits& limits)
    : application_(application), limits_(limits) {}
HttpServer::~HttpServer() = default;

void HttpServer::listen(Listener listener) {
  // Asio and Listener both close their descriptors, so duplicate the descriptor for Asio.
  const int descriptor = ::dup(listener.descriptor());
  const bool is_local = listener.is_local();
  listeners_.push_back(std::make_shared<asio::posix::stream_descriptor>(context_, descriptor));
  sockets_.push_back(std::move(listener));
  asio::co_spawn(context_, accept(*listeners_.back(), is_local), asio::detached);
}

asio::awaitable<void> HttpServer::accept(asio::posix::stream_descriptor& listener, bool is_local) {
  asio::steady_timer pause(context_);
  for (;;) {
    const auto [error] =
        co_await listener.async_wait(asio::posix::stream_descriptor::wait_read, asio::as_tuple(asio::use_awaitable));
    if (error || is_draining_) co_return;
    if (accept_one(listener, is_local)) continue;
    // If accept() failed for lack of descriptors or memory, close a connection. If all connections are busy, wait.
    if ((errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) && !make_room()) {
      pause.expires_after(kShortage);
      co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  }
}

// Accepts one connection. Returns false and sets errno if accept4() fails or no connection is waiting.
bool HttpServer::accept_one(asio::posix::stream_descriptor& listener, bool is_local) {
  sockaddr_storage name = {};
  socklen_t size = sizeof name;
  const int descriptor =
      ::accept4(listener.native_handle(), reinterpret_cast<sockaddr*>(&name), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor >= 0) add(descriptor, is_local ? "unix" : address_of(name, size));
  return descriptor >= 0;
}

// Starts serving a new connection, or refuses the connection if there are too many.
void HttpServer::add(int descriptor, std::string peer) {
  if (connections_.size() >= limits_.connections && !make_room()) {
    constexpr std::string_view kFull =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    [[maybe_unused]] const auto sent = ::send(descriptor, kFull.data(), kFull.size(), MSG_NOSIGNAL);
    ::close(descriptor);
    application_.on_connections(connections_.size(), true);
    return;
  }
  sockaddr_storage name = {};
  socklen_t size = sizeof name;
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&name), &size);
  const int on = 1;  // enables TCP_NODELAY, which sends each part of a streamed response at once
  if (name.ss_family != AF_UNIX) ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  Connection::Stream stream(context_);
  stream.socket().assign(asio::generic::stream_protocol(name.ss_family, 0), descriptor);
  connections_.push_back(std::make_shared<Connection>(*this, std::move(stream), std::move(peer)));
  application_.on_connections(connections_.size(), false);
  asio::co_spawn(context_, serve(std::prev(connections_.end())), asio::detached);
}

asio::awaitable<void> HttpServer::serve(Connections::iterator connection) {
  co_await (*connection)->run();
  connections_.erase(connection);
  application_.on_connections(connections_.size(), false);
  on_end();
}

void HttpServer::on_end() {
  if (is_draining_ && connections_.empty()) context_.stop();
}

// Closes the connection that has been idle longest. If no connection is idle, closes the connection whose arriving
// request has made no progress for the longest time. Returns false if all requests have arrived.
bool HttpServer::make_room() {
  const auto order = [](const auto& connection) { return std::pair(connection->state(), connection->last_progress()); };
  const auto first = std::ranges::min_element(connections_, {}, order);
  if (first == connections_.end() || (*first)->state() > Connection::State::arriving) return false;
  (*first)->close();
  return true;
}

void HttpServer::drain(std::chrono::seconds longest) {
  asio::post(context_, [this, longest] {
    if (std::exchange(is_draining_, true)) return;
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      while (accept_one(*listeners_[i], sockets_[i].is_local())) {
      }
      listeners_[i]->cancel();
    }
    sockets_.clear();
    asio::co_spawn(context_, end_within(longest), asio::detached);
  });
}

asio::awaitable<void> HttpServer::end_within(std::chrono::seconds longest) {
  const auto close_idle = [this](auto is_done) {
    for (const auto& connection : connections_) {
      if (connection->state() == Connection::State::idle && is_done(*connection)) connection->close();
    }
    on_end();
  };
  // At once, close only connections that have had a response and have sent no further request. The first request of a
  // new connection may still be in transit, so wait for kFirstRequest before closing the other idle connections.
  close_idle([](Connection& connection) { return connection.is_done(); });
  asio::steady_timer timer(context_, std::min(longest, kFirstRequest));
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  close_idle([](const Connection&) { return true; });
  timer.expires_after(longest - std::min(longest, kFirstRequest));
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  context_.stop();
}

}  // namespace encdec::serve
