#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "serve/http/server.h"

namespace encdec::serve {

// One client: its requests one after the other, whatever it sends ahead.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Stream = boost::beast::basic_stream<asio::generic::stream_protocol>;

  Connection(HttpServer& server, Stream stream, std::string peer);

  // To its end; never throws.
  asio::awaitable<void> run();
  enum class State : std::uint8_t {
    idle,       // between two requests
    arriving,   // a request has begun but is not whole
    answering,  // until the end of the answer
    closed,
  };
  State state() const { return state_; }
  // Time when it became idle, or when some of the arriving request was last read.
  Clock::time_point last_progress() const { return last_progress_; }
  // At once.
  void close();

 private:
  struct Writing;
  // Bytes that have arrived, and how many lines of them were parsed.
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
  asio::awaitable<void> linger();

  HttpServer& server_;
  Stream stream_;
  std::string peer_;
  Buffer buffer_;
  State state_ = State::idle;
  Clock::time_point last_progress_ = Clock::now();
};

}  // namespace encdec::serve
