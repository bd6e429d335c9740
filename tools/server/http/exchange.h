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

// A request and its response. The connection uses this object on the network thread, the handler on any thread. Order
// of the handler's calls: respond | begin write* finish
//
// If the client asks for a WebSocket (RFC 6455), begin() accepts the WebSocket, each write() sends a text message, and
// close() replaces finish().
class Exchange {
 public:
  // `network` is the executor of the connection.
  Exchange(HttpRequest request, const asio::any_io_executor& network)
      : request_(std::move(request)),
        parts_(std::make_shared<Mailbox<Part>>(network)),
        asked_(std::make_shared<Mailbox<bool>>(network)) {}

  const HttpRequest& request() const { return request_; }

  // Sends a whole response.
  void respond(HttpResponse response) { put({Part::Kind::whole, std::move(response)}); }
  // Sends the status and the headers. The body follows in parts.
  void begin(HttpResponse head) { put({Part::Kind::head, std::move(head)}); }
  // Sends a part of the body. `held` is kept alive until the part is written.
  void write(std::string bytes, std::shared_ptr<const void> held = {}) {
    put({Part::Kind::body, {.body = std::move(bytes), .held = std::move(held)}});
  }
  // Ends the body. A `status` other than 200 replaces the status of begin() in logs and metrics.
  void finish(int status = 200) { put({Part::Kind::end, {.status = status}}); }

  // Closes the WebSocket with a code and a reason of at most 123 bytes.
  void close(int code, std::string reason) { put({Part::Kind::end, {.status = code, .body = std::move(reason)}}); }

  // Returns whether respond() or begin() was called.
  bool has_response() const { return has_response_; }

  // Set by the handler. The connection calls it, on the network thread, if the client disconnects before the end of
  // the response.
  std::function<void()> on_abandoned;

  // WebSocket: set by the handler before begin(). Called on the network thread with each message from the client. The
  // connection reads one message for each ask().
  std::function<void(std::string message, bool is_text)> on_message;
  void ask() { asked_->put(true); }

 private:
  friend class Connection;
  struct Part {
    enum class Kind : std::uint8_t { whole, head, body, end };
    Kind kind = Kind::end;
    HttpResponse response = {};
  };

  void put(Part part) {
    has_response_ = true;
    parts_->put(std::move(part));
  }

  HttpRequest request_;
  std::shared_ptr<Mailbox<Part>> parts_;
  std::shared_ptr<Mailbox<bool>> asked_;  // one value for each message that the connection may read
  bool has_response_ = false;
};

}  // namespace encdec::serve
