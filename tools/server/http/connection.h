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

// A connection to one client. Answers its requests one after the other, even if the client sends several ahead.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Stream = boost::beast::basic_stream<asio::generic::stream_protocol>;

  Connection(HttpServer& server, Stream stream, std::string peer);

  // Serves requests until the connection is closed. Never throws.
  asio::awaitable<void> run();
  enum class State : std::uint8_t {
    idle,       // waiting for the next request
    arriving,   // part of a request has arrived
    answering,  // a whole request has arrived, and its answer is not finished
    closed,
  };
  State state() const { return state_; }
  // Returns whether a request has been answered, and no bytes of another one have arrived.
  bool is_done();
  // Returns the time of the last change of state. While a body arrives, returns the time when a piece of it was read.
  Clock::time_point last_progress() const { return last_progress_; }
  // Closes the socket at once.
  void close();

 private:
  struct Writing;
  // The bytes that have arrived and are not parsed, and the number of lines parsed since `lines` was set to 0.
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
  asio::awaitable<bool> answer(HttpResponse response, Writing& writing);
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
  bool has_answered_ = false;
  Clock::time_point last_progress_ = Clock::now();
};

}  // namespace encdec::serve
