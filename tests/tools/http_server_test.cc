#include <gtest/gtest.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <string>
#include <thread>

#include "server/http/server.h"
#include "tests/support/temp_folder.h"

namespace encdec::serve {
namespace {

namespace websocket = boost::beast::websocket;

// Answers each request with a WebSocket, and each message with itself, but reads none before `ask()`.
class Echo final : public HttpApplication {
 public:
  Admission admit(const HttpRequest& /*head*/) override { return {.is_socket = true}; }
  std::size_t body_limit(const HttpRequest& /*head*/) const override { return 1000; }
  HttpResponse refusal(const HttpRequest& /*request*/, const HttpError& error) override {
    return {.status = error.status(), .body = error.what()};
  }
  void handle(std::shared_ptr<Exchange> exchange) override {
    exchange_ = exchange;
    exchange->on_message = [weak = std::weak_ptr(exchange)](std::string message, bool /*is_text*/) {
      weak.lock()->write(std::move(message));
    };
    exchange->begin({});
  }
  void ask() {
    if (const auto exchange = exchange_.lock()) exchange->ask();
  }

 private:
  std::weak_ptr<Exchange> exchange_;  // its timers end with the server, before the application
};

// A server with short times, and a client of it.
struct HttpServerTest : testing::Test {
  explicit HttpServerTest(HttpLimits limits = {.write_time = std::chrono::seconds(1),
                                               .ping_time = std::chrono::seconds(1)})
      : server(application, limits) {
    server.listen(Listener::unix_socket(path));
    thread = std::thread([this] { server.run(); });
    client.next_layer().connect(asio::local::stream_protocol::endpoint(path));
    client.handshake("x", "/");
    client.text(true);
  }
  ~HttpServerTest() override {
    server.stop();
    thread.join();
  }

  TempFolder folder;
  std::string path = folder / "socket";
  Echo application;
  HttpServer server;
  std::thread thread;
  asio::io_context context;
  websocket::stream<asio::local::stream_protocol::socket> client{context};
};

TEST_F(HttpServerTest, KeepsAClientThatAnswersPingsWhileNobodyReads) {
  int pings = 0;
  client.control_callback([&](websocket::frame_type kind, boost::beast::string_view) {
    // The third ping comes after the time at which a client that is read, and does not response, is gone.
    if (kind == websocket::frame_type::ping && ++pings == 3) application.ask();
  });
  client.write(asio::buffer(std::string("hello")));
  boost::beast::flat_buffer response;
  boost::system::error_code error;
  client.read(response, error);
  EXPECT_FALSE(error) << error.message();
  EXPECT_EQ(boost::beast::buffers_to_string(response.data()), "hello");
}

TEST_F(HttpServerTest, KeepsAClientBehindAWriteThatEndedInTime) {
  application.ask();
  client.write(asio::buffer(std::string("hello")));
  boost::beast::flat_buffer response;
  client.read(response);
  int pings = 0;
  client.control_callback([&](websocket::frame_type, boost::beast::string_view) {
    if (++pings == 2) application.ask();
  });
  client.write(asio::buffer(std::string("again")));
  boost::system::error_code error;
  client.read(response, error);
  EXPECT_FALSE(error) << error.message();
}

}  // namespace
}  // namespace encdec::serve
