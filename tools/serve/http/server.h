#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serve/http/exchange.h"
#include "serve/http/listener.h"
#include "serve/http/message.h"

namespace encdec::serve {

// What strangers may do to a server.
struct HttpLimits {
  std::size_t header_bytes = 16 << 10;
  std::size_t header_fields = 100;
  std::size_t body_bytes = 4 << 20;
  std::size_t connections = 1024;
  std::chrono::seconds header_time{10};  // for a request's header to arrive, once it has begun
  std::chrono::seconds body_time{30};    // likewise for its body
  std::chrono::seconds write_time{30};   // for a client to take a piece of an answer
  std::chrono::seconds idle_time{75};    // between two requests; more than the 60 of usual proxies
};

// An answer that was given, for logs and metrics.
struct Answered {
  const HttpRequest& request;
  int status = 0;
  std::size_t bytes = 0;  // of the body
  double seconds = 0;     // since the header had arrived
  bool is_cut = false;    // the client did not wait for its end
};

// The room that a request takes, given back by the destructor: add_bytes* complete.
class RequestTicket {
 public:
  virtual ~RequestTicket() = default;
  // More of the body has arrived. Throws HttpError if there is no room for it.
  virtual void add_bytes(std::size_t bytes) = 0;
  // All of the body has arrived. Throws HttpError if there is no room for the request.
  virtual void complete() = 0;
  // Called before complete() where the room of this body is given to another one: no more of it may be read.
  std::function<void(const HttpError&)> on_refused;
};

// What a server serves. All functions are called on the network's thread, which must not compute and must not wait.
class HttpApplication {
 public:
  virtual ~HttpApplication() = default;

  // Decides on a request whose header has arrived: it is answered at once, or its body is read and it is handled.
  // `ticket` is kept as long as the request lasts. Throws HttpError to refuse it.
  struct Admission {
    std::optional<HttpResponse> answer = {};
    std::unique_ptr<RequestTicket> ticket = {};
  };
  virtual Admission admit(const HttpRequest& head) = 0;
  // Most bytes of a request's body, as far as it is known; it has as many times HttpLimits::body_time to arrive as it
  // may have HttpLimits::body_bytes.
  virtual std::size_t body_limit(const HttpRequest& head) const = 0;
  // Answers some time, on any thread.
  virtual void handle(std::shared_ptr<Exchange> exchange) = 0;
  // How the server itself refuses a request, as far as it is known.
  virtual HttpResponse refusal(const HttpRequest& request, const HttpError& error) = 0;
  // What every answer has.
  virtual void add_headers(const HttpRequest& /*request*/, HttpResponse& /*response*/) {}
  virtual void on_answered(const Answered& /*answered*/) {}
  // Connections were opened or closed; `is_refused`: one found no place.
  virtual void on_connections(std::size_t /*open*/, bool /*is_refused*/) {}
};

class Connection;

// HTTP/1.1 over TCP and unix sockets: any number of connections on one thread, which only moves bytes.
class HttpServer {
 public:
  HttpServer(HttpApplication& application, const HttpLimits& limits);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  void listen(Listener listener);
  // Serves until drain() was called and all is answered, or until stop().
  void run();
  // No more connections, and no more requests on those that there are; what is not answered after so long is cut off.
  // May be called from any thread, like the next.
  void drain(std::chrono::seconds longest);
  void stop();

  asio::io_context& context() { return context_; }
  HttpApplication& application() { return application_; }
  const HttpLimits& limits() const { return limits_; }
  bool is_draining() const { return is_draining_; }

 private:
  asio::awaitable<void> accept(asio::posix::stream_descriptor& listener, bool is_local);
  void add(int descriptor, std::string peer);
  bool make_room();

  asio::io_context context_{1};
  HttpApplication& application_;
  HttpLimits limits_;
  std::list<std::shared_ptr<asio::posix::stream_descriptor>> listeners_;
  std::vector<Listener> sockets_;
  std::list<std::shared_ptr<Connection>> connections_;
  asio::steady_timer deadline_{context_};  // of draining
  bool is_draining_ = false;
};

}  // namespace encdec::serve
