#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <cstddef>
#include <memory>
#include <string>

#include "http/server.h"

namespace encdec::serve {

// One client: its requests one after the other, whatever it sends ahead.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Stream = boost::beast::basic_stream<asio::generic::stream_protocol>;

  Connection(HttpServer& server, Stream stream, std::string peer);

  // To its end; never throws.
  asio::awaitable<void> run();
  // Whether nobody waits for an answer: it is between two requests, or one has not arrived whole.
  bool is_idle() const { return is_idle_; }
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

  asio::awaitable<bool> wait_for_request();
  asio::awaitable<bool> serve_request();
  asio::awaitable<void> watch(const Writing& writing);
  asio::awaitable<bool> deliver(std::shared_ptr<Exchange> exchange, Writing& writing);
  asio::awaitable<bool> answer(HttpResponse response, Writing& writing);
  asio::awaitable<void> linger();

  HttpServer& server_;
  Stream stream_;
  std::string peer_;
  Buffer buffer_;
  bool is_idle_ = true;
};

}  // namespace encdec::serve
