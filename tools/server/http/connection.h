#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "server/http/server.h"

namespace encdec::serve {

// A connection to one client. Serves requests one after the other; the client may send several requests ahead.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Stream = boost::beast::basic_stream<asio::generic::stream_protocol>;

  Connection(HttpServer& server, Stream stream, std::string peer);

  // Serves requests until the connection is closed. Never throws.
  asio::awaitable<void> run();
  enum class State : std::uint8_t {
    idle,        // waiting for the next request
    arriving,    // part of a request has arrived
    responding,  // a whole request has arrived, and its response is not finished
    closed,
  };
  State state() const { return state_; }
  // Returns whether a request was served and no bytes of another request have arrived.
  bool is_done();
  // Returns the time of the last change of state or, while a body arrives, of the last read.
  Clock::time_point last_progress() const { return last_progress_; }
  // Closes the socket at once.
  void close();

 private:
  struct Writing;
  // Bytes that have arrived and are not parsed yet. Counts parsed lines in `lines`, which the caller resets.
  struct Buffer : boost::beast::flat_buffer {
    using basic_flat_buffer::basic_flat_buffer;
    void consume(std::size_t bytes);
    std::size_t lines = 0;
  };

  void enter(State state);
  asio::awaitable<bool> wait_for_request();
  asio::awaitable<bool> serve_request();
  template <class Parser>
  asio::awaitable<bool> read_body(Parser& parser, HttpRequest& request, RequestTicket* ticket);
  asio::awaitable<void> watch(const Writing& writing);
  asio::awaitable<bool> deliver(std::shared_ptr<Exchange> exchange, Writing& writing);
  asio::awaitable<bool> send_response(HttpResponse response, Writing& writing);
  template <class Request>
  asio::awaitable<void> serve_socket(const Request& head, std::shared_ptr<Exchange> exchange, std::size_t longest,
                                     Writing& writing);
  asio::awaitable<boost::system::error_code> within(std::chrono::seconds time,
                                                    asio::awaitable<boost::system::error_code> operation);
  asio::awaitable<void> linger();

  HttpServer& server_;
  Stream stream_;
  std::string peer_;
  Buffer buffer_;
  State state_ = State::idle;
  bool has_responded_ = false;
  Clock::time_point last_progress_ = Clock::now();
};

}  // namespace encdec::serve
