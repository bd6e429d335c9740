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

// Limits on what one client may send, on the time it may take, and on the number of connections.
struct HttpLimits {
  std::size_t header_bytes = 16 << 10;
  std::size_t header_fields = 100;
  std::size_t body_bytes = 4 << 20;
  std::size_t connections = 1024;
  std::chrono::seconds header_time{10};  // maximum time from the first bytes of a header to its end
  std::chrono::seconds body_time{30};    // maximum time for the body after the header; see body_limit()
  std::chrono::seconds write_time{30};   // maximum time for a client to receive one piece of an answer
  std::chrono::seconds idle_time{75};    // maximum time between two requests; longer than the 60 s of common proxies
  std::chrono::seconds ping_time{20};    // time between two pings of a WebSocket; it ends after two without an answer
};

// An answer, finished or cut off, as logs and metrics report it.
struct Answered {
  const HttpRequest& request;
  int status = 0;
  std::size_t bytes = 0;  // size of the body
  double seconds = 0;     // time since the server began to read the request
  bool is_cut = false;    // the client disconnected, or received too slowly, before the end of the answer
};

// The share that one request takes of the limits on all requests. The destructor returns the share.
// Order of calls: add_bytes* complete
class RequestTicket {
 public:
  virtual ~RequestTicket() = default;
  // Counts more bytes of the body, which have arrived. Throws HttpError if all bodies together exceed a limit.
  virtual void add_bytes(std::size_t bytes) = 0;
  // Counts the request, whose whole body has arrived. Throws HttpError if there are too many requests.
  virtual void complete() = 0;
  // Callback that refuses this body, before complete(), to make space for another body within the limit. The server
  // must then read no more of this body.
  std::function<void(const HttpError&)> on_refused;
};

// An application that answers the requests of an HttpServer. Its functions are called on the network's thread and must
// return at once: they may neither compute nor wait.
class HttpApplication {
 public:
  virtual ~HttpApplication() = default;

  // A decision about a request whose header has arrived.
  struct Admission {
    std::optional<HttpResponse> answer = {};     // sent at once; if unset, the body is read and handle() is called
    std::unique_ptr<RequestTicket> ticket = {};  // kept until the request is answered
    bool is_socket = false;                      // handle() answers with a WebSocket
  };
  // Sets `head.facts`. Called once, when the header has arrived, and before the other functions for this request.
  virtual void examine(HttpRequest& /*head*/) const {}
  // Throws HttpError to refuse the request.
  virtual Admission admit(const HttpRequest& head) = 0;
  // Returns the maximum number of bytes of a request's body. The time for a body grows with this number: the body may
  // take 3 times HttpLimits::body_time if the maximum is 3 times HttpLimits::body_bytes.
  virtual std::size_t body_limit(const HttpRequest& head) const = 0;
  // Starts the handler of a request. The handler may write the answer later and on any thread.
  virtual void handle(std::shared_ptr<Exchange> exchange) = 0;
  // Returns the answer to a refused request. Members of `request` are empty if they could not be read.
  virtual HttpResponse refusal(const HttpRequest& request, const HttpError& error) = 0;
  // Adds the headers that every answer has.
  virtual void add_headers(const HttpRequest& /*request*/, HttpResponse& /*response*/) {}
  // Called after each answer.
  virtual void on_answered(const Answered& /*answered*/) {}
  // Called when a connection was opened, closed or, if `is_refused`, refused because there are too many.
  virtual void on_connections(std::size_t /*open*/, bool /*is_refused*/) {}
};

class Connection;

// A server of HTTP/1.1 over TCP and Unix sockets. One thread serves all connections; it only reads and writes bytes.
class HttpServer {
 public:
  HttpServer(HttpApplication& application, const HttpLimits& limits);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  void listen(Listener listener);
  // Serves until drain() was called and all requests are answered, or until stop().
  void run() { context_.run(); }
  // Stops accepting connections, after those that wait for it. Answers the requests that have arrived, and the first
  // request of a new connection. Requests that are not answered after `longest` are cut off. Thread-safe.
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
  asio::awaitable<void> serve(Connections::iterator place);
  asio::awaitable<void> end_within(std::chrono::seconds longest);
  void on_end();
  bool make_room();

  asio::io_context context_{1};
  HttpApplication& application_;
  HttpLimits limits_;
  std::vector<std::shared_ptr<asio::posix::stream_descriptor>> listeners_;
  std::vector<Listener> sockets_;  // in the same order
  Connections connections_;
  bool is_draining_ = false;
};

}  // namespace encdec::serve
