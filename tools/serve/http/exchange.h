#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "serve/http/mailbox.h"
#include "serve/http/message.h"

namespace encdec::serve {

// A request and its answer, between the connection, on the network's thread, and whoever answers, on any.
class Exchange {
 public:
  // `network` is the connection's executor.
  Exchange(HttpRequest request, const asio::any_io_executor& network)
      : request_(std::move(request)), pieces_(std::make_shared<Mailbox<Piece>>(network)) {}

  const HttpRequest& request() const { return request_; }

  // Answers, once: all of it,
  void respond(HttpResponse response) { put({Piece::Kind::whole, std::move(response)}); }
  // or a beginning, pieces of the body, and the end.
  void begin(HttpResponse head) { put({Piece::Kind::head, std::move(head)}); }
  void write(std::string bytes, std::shared_ptr<const void> held = {}) {
    put({Piece::Kind::body, {.body = std::move(bytes), .held = std::move(held)}});
  }
  // `status` is what is told of it where the beginning promised too much.
  void finish(int status = 200) { put({Piece::Kind::end, {.status = status}}); }

  // Whether respond() or begin() was called.
  bool is_answered() const { return is_answered_; }

  // What the connection is to do when nobody waits for the answer any more; called on its thread.
  std::function<void()> on_abandoned;

 private:
  friend class Connection;
  struct Piece {
    enum class Kind : std::uint8_t { whole, head, body, end };
    Kind kind = Kind::end;
    HttpResponse response = {};
  };

  void put(Piece piece) {
    is_answered_ = true;
    pieces_->put(std::move(piece));
  }

  HttpRequest request_;
  std::shared_ptr<Mailbox<Piece>> pieces_;
  bool is_answered_ = false;
};

}  // namespace encdec::serve
