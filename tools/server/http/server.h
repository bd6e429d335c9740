#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/http/exchange.h"
#include "server/http/listener.h"
#include "server/http/message.h"

namespace encdec::serve {

// Limits on the bytes that one client may send, on its time, and on the number of connections.
struct HttpLimits {
  std::size_t header_bytes = 16 << 10;
  std::size_t header_fields = 100;
  std::size_t body_bytes = 4 << 20;
  std::size_t connections = 1024;
  std::chrono::seconds header_time{10};  // maximum time from the first bytes of a header to its end
  std::chrono::seconds body_time{30};    // maximum time for a body; see HttpApplication::body_limit()
  std::chrono::seconds write_time{30};   // maximum time for a client to receive one part of a response
  std::chrono::seconds idle_time{75};    // maximum time between requests; longer than common proxies' 60 s
  std::chrono::seconds ping_time{20};    // time between WebSocket pings; two pings without a pong close the connection
};

// A response, complete or aborted, for logs and metrics.
struct FinishedRequest {
  const HttpRequest& request;
  int status = 0;
  std::size_t bytes = 0;    // size of the body
  double seconds = 0;       // time since the server began to read the request
  bool is_aborted = false;  // the client disconnected or was too slow before the end of the response
};

// One request's share of the limits on all requests. The destructor frees the share.
// Order of calls: add_bytes* complete
class RequestTicket {
 public:
  virtual ~RequestTicket() = default;
  // Counts body bytes that have arrived. Throws HttpError if all bodies together exceed a limit.
  virtual void add_bytes(std::size_t bytes) = 0;
  // Counts the request, after the whole body has arrived. Throws HttpError if there are too many.
  virtual void complete() = 0;
  // Set by the server. Called before complete() to refuse this body because another body needs the space. The server
  // must then stop reading this body.
  std::function<void(const HttpError&)> on_refused;
};

// The application of an HttpServer. All functions are called on the network thread and must return at once: they may
// neither compute nor wait.
class HttpApplication {
 public:
  virtual ~HttpApplication() = default;

  // A decision about a request whose header has arrived.
  struct Admission {
    std::optional<HttpResponse> response = {};   // sent at once; if unset, handle() gets the request
    std::unique_ptr<RequestTicket> ticket = {};  // kept until the end of the response
    bool is_socket = false;                      // handle() opens a WebSocket
  };
  // Sets `head.facts`. Called once for each request, after the header has arrived and before all other functions.
  virtual void examine(HttpRequest& /*head*/) const {}
  // Throws HttpError to refuse the request.
  virtual Admission admit(const HttpRequest& head) = 0;
  // Returns the maximum size of the body. The time limit grows in proportion: 3 times HttpLimits::body_bytes may take 3
  // times HttpLimits::body_time.
  virtual std::size_t body_limit(const HttpRequest& head) const = 0;
  // Starts the handler of a request. The handler may respond later and on any thread.
  virtual void handle(std::shared_ptr<Exchange> exchange) = 0;
  // Returns the response to a refused request. Unreadable members of `request` are empty.
  virtual HttpResponse refusal(const HttpRequest& request, const HttpError& error) = 0;
  // Adds the headers of every response.
  virtual void add_headers(const HttpRequest& /*request*/, HttpResponse& /*response*/) {}
  // Called after each response.
  virtual void on_request_done(const FinishedRequest& /*finished*/) {}
  // Called when a connection was opened or closed, or, if `is_refused`, refused because of the limit.
  virtual void on_connections(std::size_t /*open*/, bool /*is_refused*/) {}
};

class Connection;

// An HTTP/1.1 server over TCP and Unix sockets. The thread that calls run(), the network thread, serves all
// connections; it only reads and writes bytes.
class HttpServer {
 public:
  HttpServer(HttpApplication& application, const HttpLimits& limits);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  void listen(Listener listener);
  // Serves until stop(), or until all connections have ended after drain().
  void run() { context_.run(); }
  // Accepts the connections that are waiting, then no further connections. Serves the requests that have arrived and
  // the first request of each new connection. Aborts responses that take longer than `longest`. Thread-safe.
  void drain(std::chrono::seconds longest);
  // Makes run() return at once. Thread-safe.
  void stop() { context_.stop(); }

  asio::io_context& context() { return context_; }
  HttpApplication& application() { return application_; }
  const HttpLimits& limits() const { return limits_; }
  bool is_draining() const { return is_draining_; }

 private:
  asio::awaitable<void> accept(asio::posix::stream_descriptor& listener, bool is_local);
  using Connections = std::list<std::shared_ptr<Connection>>;

  bool accept_one(asio::posix::stream_descriptor& listener, bool is_local);
  void add(int descriptor, std::string peer);
  asio::awaitable<void> serve(Connections::iterator connection);
  asio::awaitable<void> end_within(std::chrono::seconds longest);
  void on_end();
  bool make_room();

  asio::io_context context_{1};
  HttpApplication& application_;
  HttpLimits limits_;
  std::vector<std::shared_ptr<asio::posix::stream_descriptor>> listeners_;
  std::vector<Listener> sockets_;  // in the order of listeners_
  Connections connections_;
  bool is_draining_ = false;
};

}  // namespace encdec::serve
