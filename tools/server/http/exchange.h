#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "server/http/mailbox.h"
#include "server/http/message.h"

namespace encdec::serve {

// A request and its answer. The connection uses it on the network's thread, the handler on any thread. Order of the
// handler's calls: respond, or begin write* finish.
//
// If the client asks for a WebSocket (RFC 6455), begin() accepts it, each write() sends a message of text, and close()
// ends it.
class Exchange {
 public:
  // `network` is the connection's executor.
  Exchange(HttpRequest request, const asio::any_io_executor& network)
      : request_(std::move(request)),
        pieces_(std::make_shared<Mailbox<Piece>>(network)),
        asked_(std::make_shared<Mailbox<bool>>(network)) {}

  const HttpRequest& request() const { return request_; }

  // Sends a whole answer.
  void respond(HttpResponse response) { put({Piece::Kind::whole, std::move(response)}); }
  // Sends the status and the headers of an answer whose body comes in pieces.
  void begin(HttpResponse head) { put({Piece::Kind::head, std::move(head)}); }
  // Sends a piece of the body. `held` is kept until the piece has been written.
  void write(std::string bytes, std::shared_ptr<const void> held = {}) {
    put({Piece::Kind::body, {.body = std::move(bytes), .held = std::move(held)}});
  }
  // Ends the body. A `status` other than 200 replaces, in logs and metrics, the status that begin() has sent.
  void finish(int status = 200) { put({Piece::Kind::end, {.status = status}}); }

  // Closes a WebSocket with a code and a reason of at most 123 bytes.
  void close(int code, std::string reason) { put({Piece::Kind::end, {.status = code, .body = std::move(reason)}}); }

  // Returns whether respond() or begin() was called.
  bool is_answered() const { return is_answered_; }

  // Callback set by the handler. The connection calls it, on the network's thread, if the client disconnects before the
  // end of the answer.
  std::function<void()> on_abandoned;

  // WebSocket: a callback set by the handler before begin(), called on the network's thread with each message of the
  // client. The connection reads the next message after ask().
  std::function<void(std::string message, bool is_text)> on_message;
  void ask() { asked_->put(true); }

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
  std::shared_ptr<Mailbox<bool>> asked_;  // one for each message that the connection may read
  bool is_answered_ = false;
};

}  // namespace encdec::serve
