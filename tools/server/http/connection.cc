#include "server/http/connection.h"

#include <encdec/models/tokenizer/base/utf8.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>
#include <variant>

#include "server/http/form.h"

namespace encdec::serve {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

constexpr auto kResult = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kReadBytes = 2048;                     // maximum bytes of one read outside a body
constexpr std::size_t kBodyBytes = 16 << 10;                 // maximum bytes of one read of a body
constexpr std::size_t kReadAheadBytes = 32 << 10;            // maximum bytes of later requests in the buffer
constexpr std::size_t kSkippedBytes = 64 << 10;              // maximum bytes of an unwanted body that is skipped
constexpr std::chrono::seconds kLingerTime{2};               // time for a client to read its response before close()
constexpr std::size_t kLingerBytes = std::size_t{64} << 20;  // maximum bytes discarded in kLingerTime
constexpr std::chrono::milliseconds kWatchInterval{50};      // time between checks for a disconnected client
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Returns true for errors in the client's data, false for errors of the connection.
bool is_malformed(error_code error) {
  return error.category() == make_error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

HttpError too_long(std::size_t body_limit) {
  return {413, fmt::format("a body of more than {} bytes", body_limit)};
}

HttpError malformed(error_code error, const HttpLimits& limits) {
  if (error == http::error::header_limit) {
    return {431, fmt::format("a header of more than {} bytes", limits.header_bytes)};
  }
  return {error == http::error::bad_version ? 505 : 400, "not HTTP/1.1: " + error.message()};
}

// Returns "/path?query" for "http://host/path?query" (RFC 9112, section 3.2.2), and any other target unchanged.
std::string_view origin_form(std::string_view target) {
  const std::size_t scheme = target.starts_with("http://") ? 7 : target.starts_with("https://") ? 8 : 0;
  if (scheme == 0) return target;
  const std::size_t path = target.find('/', scheme);
  return path == std::string_view::npos ? "/" : target.substr(path);
}

// Returns whether `text` is safe in a header, a log line and a file name.
bool is_plain_word(std::string_view text) {
  constexpr std::size_t kLongest = 128;
  return !text.empty() && text.size() <= kLongest && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  });
}

// Returns whether `text` is a valid Host field (RFC 9110, section 7.2, and RFC 3986, section 3.2.2). Examples:
// "example.org", "127.0.0.1:8080", "[::1]:8080".
bool is_host(std::string_view text) {
  constexpr std::string_view kOthers = "-._~%!$&'()*+,;=";
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = std::min(text.find(']'), text.size() - 1);
    error_code error;
    asio::ip::make_address_v6(text.substr(1, end - 1), error);
    if (error || text[end] != ']') return false;
    port = text.substr(end + 1);
  } else {
    const std::string_view name = text.substr(0, text.find(':'));
    if (name.empty() || !std::ranges::all_of(name, [&](unsigned char c) {
          return std::isalnum(c) != 0 || kOthers.find(static_cast<char>(c)) != std::string_view::npos;
        })) {
      return false;
    }
    port = text.substr(name.size());
  }
  return port.empty() || (port.starts_with(':') && std::ranges::all_of(port.substr(1), is_digit));
}

// Polls a socket without waiting. Returns the events that have occurred: some of `wanted`, POLLERR or POLLHUP.
short events_of(int socket, short wanted) {
  pollfd polled = {.fd = socket, .events = wanted, .revents = 0};
  ::poll(&polled, 1, 0);
  return polled.revents;
}

// Throws HttpError for a header that a proxy in front of this server could parse differently (request smuggling).
// `lines` is the number of lines in the header.
void check_head(const http::request_header<>& head, std::size_t lines, const HttpLimits& limits) {
  std::size_t fields = 0, encodings = 0;
  for (const auto& field : head) {
    ++fields;
    encodings += field.name() == http::field::transfer_encoding ? 1 : 0;
  }
  if (fields > limits.header_fields) {
    throw HttpError(431, fmt::format("{} header fields, expected at most {}", fields, limits.header_fields));
  }
  // A header has a request line, one line for each field, and an empty line. Further lines belong to folded fields.
  if (lines != fields + 2) throw HttpError(400, "a header field of several lines, expected one line");
  // Refuse repeated fields, because a proxy may use a different value than this server.
  for (const std::string_view name : {"Host", "Authorization", "X-API-Key", "Content-Type", "Content-Encoding"}) {
    const std::size_t count = head.count(name);
    if (count > 1) throw HttpError(400, fmt::format("{} {} fields, expected one", count, name));
  }
  const auto host = head.find(http::field::host);
  if (host == head.end() && head.version() >= 11) throw HttpError(400, "no Host field, expected one");
  if (host != head.end() && !is_host(host->value())) {
    throw HttpError(400, fmt::format("Host is '{}', expected HOST or HOST:PORT", std::string_view(host->value())));
  }
  const auto encoding = head[http::field::transfer_encoding];
  if (encodings > 1 || (encodings == 1 && (head.version() < 11 || !beast::iequals(encoding, "chunked")))) {
    throw HttpError(501, "Transfer-Encoding other than chunked");
  }
  const auto compression = head[http::field::content_encoding];
  if (!compression.empty() && !beast::iequals(compression, "identity")) {
    throw HttpError(415, "a body with Content-Encoding, expected none");
  }
  const std::string_view target = origin_form({head.target().data(), head.target().size()});
  if (!target.starts_with('/') && target != "*") throw HttpError(400, "the request target is not a path");
}

void read_head(const http::request_header<>& head, HttpRequest& request) {
  request.method = std::string(head.method_string());
  const std::string_view target = origin_form({head.target().data(), head.target().size()});
  const std::size_t mark = std::min(target.find('?'), target.size());
  request.path = target.substr(0, mark);
  if (mark < target.size()) request.query = parse_form(target.substr(mark + 1));
  for (const auto& field : head) {
    request.headers.add(lower_case({field.name_string().data(), field.name_string().size()}),
                        std::string(field.value()));
  }
  request.id = request.headers["x-request-id"];
  if (!is_plain_word(request.id)) request.id = random_id();
}

}  // namespace

// The state of the response to one request.
struct Connection::Writing {
  const HttpRequest& request;
  unsigned version = 11;
  bool keep_alive = true;
  bool has_begun = false;  // whether part of the response may have been written
  Clock::time_point begin = Clock::now();
  FinishedRequest finished = {.request = request};

  template <class Body>
  http::response<Body> response(HttpApplication& application, HttpResponse& from) {
    application.add_headers(request, from);
    http::response<Body> to(static_cast<http::status>(from.status), version);
    if (!from.content_type.empty()) to.set(http::field::content_type, from.content_type);
    for (const auto& [name, value] : from.headers) to.set(name, value);
    if (!request.id.empty()) to.set("X-Request-ID", request.id);
    to.keep_alive(keep_alive);
    finished.status = from.status;
    return to;
  }
  bool is_head() const { return request.method == "HEAD"; }
  void report(HttpApplication& application) {
    finished.seconds = seconds_since(begin);
    application.on_request_done(finished);
  }
};

Connection::Connection(HttpServer& server, Stream stream, std::string peer)
    : server_(server), stream_(std::move(stream)), peer_(std::move(peer)), buffer_(kReadAheadBytes) {}

// Also counts the consumed lines, because Beast silently joins the lines of a folded field.
void Connection::Buffer::consume(std::size_t bytes) {
  const auto all = data();
  const std::string_view parsed(static_cast<const char*>(all.data()), std::min(bytes, all.size()));
  lines += static_cast<std::size_t>(std::ranges::count(parsed, '\n'));
  basic_flat_buffer::consume(bytes);
}

asio::awaitable<void> Connection::run() {
  const auto self = shared_from_this();
  try {
    bool keep_open = true;
    do {
      // These are two statements, because GCC 12 drops the result of a co_await inside &&.
      keep_open = co_await wait_for_request();
      if (keep_open) keep_open = co_await serve_request();
    } while (keep_open && !server_.is_draining());
  } catch (const std::exception&) {
    // The connection has failed: no response can be sent.
  }
  close();
}

bool Connection::is_done() {
  return has_responded_ && (events_of(stream_.socket().native_handle(), POLLIN) & POLLIN) == 0;
}

void Connection::close() {
  enter(State::closed);
  stream_.close();
}

void Connection::enter(State state) {
  if (state_ != State::closed) state_ = state;
  last_progress_ = Clock::now();
}

asio::awaitable<bool> Connection::wait_for_request() {
  enter(State::idle);
  if (buffer_.size() > 0) co_return true;
  buffer_.shrink_to_fit();
  stream_.expires_after(server_.limits().idle_time);
  const auto [error, size] = co_await stream_.async_read_some(buffer_.prepare(kReadBytes), kResult);
  buffer_.commit(size);
  co_return !error;
}

asio::awaitable<bool> Connection::serve_request() {
  const HttpLimits& limits = server_.limits();
  HttpApplication& application = server_.application();
  http::request_parser<http::buffer_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  parser.body_limit(boost::none);  // set below, when the path is known
  HttpRequest request;
  request.peer = peer_;
  Writing writing{.request = request};
  std::optional<HttpResponse> refusal;
  HttpApplication::Admission admission;

  stream_.expires_after(limits.header_time);
  buffer_.lines = 0;
  enter(State::arriving);
  // Read the header and decide whether the request is accepted.
  const auto [error, size] = co_await http::async_read_header(stream_, buffer_, parser, kResult);
  if (error && !is_malformed(error)) co_return false;
  const bool is_chunked = !error && parser.chunked();
  std::size_t body_bytes = 0, body_limit = limits.body_bytes;
  try {
    read_head(parser.get().base(), request);
    application.examine(request);
    if (error) throw malformed(error, limits);
    writing.version = parser.get().version();
    writing.keep_alive = parser.get().keep_alive();
    check_head(parser.get().base(), buffer_.lines, limits);
    body_limit = application.body_limit(request);
    body_bytes = is_chunked ? body_limit : parser.content_length().value_or(0);
    if (body_bytes > body_limit) throw too_long(body_limit);
    parser.body_limit(body_limit);
    admission = application.admit(request);
    if (admission.is_socket && (!beast::websocket::is_upgrade(parser.get()) || buffer_.size() > 0)) {
      throw HttpError(426, "a request without Upgrade: websocket, expected a WebSocket (RFC 6455)");
    }
  } catch (const HttpError& refused) {
    writing.keep_alive = false;
    refusal = application.refusal(request, refused);
  }
  // Read the body. If the body is unwanted but short, skip it, so that the connection can stay open.
  const bool is_wanted = !refusal && !admission.response;
  if (!is_wanted && body_bytes > kSkippedBytes) writing.keep_alive = false;

  try {
    if (!refusal && !parser.is_done() && (is_wanted || writing.keep_alive)) {
      const std::size_t parts = std::max<std::size_t>(body_limit / limits.body_bytes, 1);
      stream_.expires_after(limits.body_time * static_cast<std::int64_t>(parts));
      if (writing.version >= 11 && beast::iequals(request.headers["expect"], "100-continue")) {
        co_await asio::async_write(stream_, asio::buffer(kContinue), asio::use_awaitable);
      }
      const bool is_whole = co_await read_body(parser, request, admission.ticket.get());
      if (!is_whole) co_return false;
    }
    if (admission.ticket) admission.ticket->complete();
  } catch (const HttpError& refused) {
    if (!parser.is_done()) writing.keep_alive = false;
    refusal = application.refusal(request, refused);
    std::string().swap(request.body);
    admission.ticket.reset();
  }

  // Send the refusal or the immediate response, or let the handler respond.
  enter(State::responding);
  has_responded_ = true;
  if (server_.is_draining()) writing.keep_alive = false;
  bool keep_open = false;
  if (refusal || admission.response) {
    keep_open = co_await send_response(std::move(refusal ? *refusal : *admission.response), writing);
  } else {
    using asio::experimental::awaitable_operators::operator||;
    const auto exchange = std::make_shared<Exchange>(std::move(request), stream_.get_executor());
    application.handle(exchange);
    Writing responding{.request = exchange->request(),
                       .version = writing.version,
                       .keep_alive = writing.keep_alive,
                       .begin = writing.begin};
    stream_.expires_never();
    if (admission.is_socket) {
      co_await serve_socket(parser.get(), exchange, body_limit, responding);
      if (exchange->on_abandoned) exchange->on_abandoned();
      responding.report(application);
      co_return false;
    }
    // Watch for a disconnect while the response is delivered.
    const auto ended = co_await (watch(responding) || deliver(exchange, responding));
    keep_open = ended.index() == 1 && std::get<1>(ended);
    responding.finished.is_aborted = responding.finished.is_aborted || ended.index() == 0;
    if (responding.finished.is_aborted && exchange->on_abandoned) exchange->on_abandoned();
    responding.report(application);
    co_return keep_open;
  }
  writing.report(application);
  if (!keep_open) co_await linger();
  co_return keep_open;
}

// Reads a body in blocks. Memory grows only with the bytes that arrive, not with Content-Length. Returns false if the
// client has disconnected. Throws HttpError if the body is malformed or exceeds a limit.
template <class Parser>
asio::awaitable<bool> Connection::read_body(Parser& parser, HttpRequest& request, RequestTicket* ticket) {
  std::optional<HttpError> refused;
  if (ticket != nullptr) {
    ticket->on_refused = [&](const HttpError& error) {
      refused = error;
      stream_.cancel();
    };
  }
  parser.eager(true);
  buffer_.reserve(kBodyBytes);
  while (!parser.is_done()) {
    // Let the parser write into the body. Afterwards, part.size is the number of unused bytes.
    auto& part = parser.get().body();
    const std::size_t before = request.body.size();
    request.body.resize(before + kBodyBytes);
    part.data = request.body.data() + before;
    part.size = kBodyBytes;
    const auto [error, size] = co_await http::async_read_some(stream_, buffer_, parser, kResult);
    request.body.resize(request.body.size() - part.size);
    if (refused) throw *refused;
    if (error && error != http::error::need_buffer) {
      if (!is_malformed(error)) co_return false;
      if (error == http::error::body_limit) throw too_long(server_.application().body_limit(request));
      throw malformed(error, server_.limits());
    }
    if (ticket != nullptr) ticket->add_bytes(request.body.size() - before);
    enter(State::arriving);
  }
  co_return true;
}

// Returns when the client has disconnected. Until then, buffers the requests that the client sends ahead, as long as
// the buffer has space. A client that has shut down only its sending side still waits for the response. On a Unix
// socket, poll() distinguishes such a client from a disconnected client; over TCP, the server must send an interim
// response.
asio::awaitable<void> Connection::watch(const Writing& writing) {
  const int socket = stream_.socket().native_handle();
  bool is_open = true;  // whether the client may send more
  while (is_open && buffer_.size() + kReadBytes <= kReadAheadBytes) {
    const auto [error] = co_await stream_.socket().async_wait(asio::socket_base::wait_read, kResult);
    if (error) co_return;
    // Use recv(), because Asio would report the end of the stream only once, and wait_for_request() must detect it too.
    const ssize_t size = ::recv(socket, buffer_.prepare(kReadBytes).data(), kReadBytes, 0);
    if (size < 0 && errno != EAGAIN) co_return;
    buffer_.commit(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    is_open = size != 0;
  }
  asio::steady_timer pause(stream_.get_executor());
  for (short asked = -1;;) {
    const short events = events_of(socket, POLLRDHUP);  // POLLRDHUP: the client has shut down its sending side
    if ((events & (POLLERR | POLLHUP)) != 0) co_return;
    pause.expires_after(kWatchInterval);
    const auto [error] = co_await pause.async_wait(kResult);
    if (error) co_return;
    if (peer_ == "unix" || writing.has_begun || std::exchange(asked, events) == events) continue;
    if (writing.version < 11) co_return;
    // The operating system of a disconnected client replies with a reset. A waiting client ignores this interim
    // response (RFC 9110, section 15.2).
    ::send(socket, kContinue.data(), kContinue.size(), MSG_NOSIGNAL);
  }
}

// Writes the response that a handler puts into `exchange`. Returns false if the connection must be closed. Throws
// only if the coroutine is cancelled.
asio::awaitable<bool> Connection::deliver(std::shared_ptr<Exchange> exchange, Writing& writing) {
  using Kind = Exchange::Part::Kind;
  Exchange::Part part = *co_await exchange->parts_->take();
  writing.has_begun = true;
  if (part.kind == Kind::whole) co_return co_await send_response(std::move(part.response), writing);

  // The length of the body is unknown, so send chunks or, for HTTP/1.0, close the connection after the body.
  const bool is_chunked = writing.version >= 11;
  if (!is_chunked) writing.keep_alive = false;
  auto head = writing.response<http::empty_body>(server_.application(), part.response);
  head.chunked(is_chunked);
  http::response_serializer<http::empty_body> serializer(head);
  stream_.expires_after(server_.limits().write_time);
  const auto [head_error, head_size] = co_await http::async_write_header(stream_, serializer, kResult);
  if (head_error) writing.finished.is_aborted = true;
  while (!writing.finished.is_aborted) {
    part = *co_await exchange->parts_->take();
    const std::string& bytes = part.response.body;
    error_code error;
    if (part.kind == Kind::body && (bytes.empty() || writing.is_head())) continue;
    stream_.expires_after(server_.limits().write_time);
    if (part.kind == Kind::end) {
      if (is_chunked && !writing.is_head()) {
        std::tie(error, std::ignore) = co_await asio::async_write(stream_, http::make_chunk_last(), kResult);
      }
      writing.finished.is_aborted = error.failed();
      if (part.response.status != 200) writing.finished.status = part.response.status;
      break;
    }
    if (is_chunked) {
      std::tie(error, std::ignore) =
          co_await asio::async_write(stream_, http::make_chunk(asio::buffer(bytes)), kResult);
    } else {
      std::tie(error, std::ignore) = co_await asio::async_write(stream_, asio::buffer(bytes), kResult);
    }
    writing.finished.bytes += bytes.size();
    writing.finished.is_aborted = error.failed();
  }
  co_return writing.keep_alive && !writing.finished.is_aborted;
}

// Writes a whole response. Returns false if the connection must be closed.
asio::awaitable<bool> Connection::send_response(HttpResponse from, Writing& writing) {
  stream_.expires_after(server_.limits().write_time);
  writing.finished.bytes = from.body_bytes();
  error_code error;
  if (writing.is_head()) {
    auto response = writing.response<http::empty_body>(server_.application(), from);
    response.content_length(writing.finished.bytes);
    http::response_serializer<http::empty_body> serializer(response);
    std::tie(error, std::ignore) = co_await http::async_write_header(stream_, serializer, kResult);
  } else {
    auto response = writing.response<http::string_body>(server_.application(), from);
    response.body() = std::move(from.body);
    response.content_length(writing.finished.bytes);
    std::tie(error, std::ignore) = co_await http::async_write(stream_, response, kResult);
    for (std::size_t i = 0; i < from.more.size() && !error; ++i) {
      const std::string part = std::move(from.more[i]);
      stream_.expires_after(server_.limits().write_time);
      std::tie(error, std::ignore) = co_await asio::async_write(stream_, asio::buffer(part), kResult);
    }
  }
  writing.finished.is_aborted = error.failed();
  co_return writing.keep_alive && !error;
}

// Serves a WebSocket until the handler finishes, the client closes the WebSocket, or the client disconnects.
template <class Request>
asio::awaitable<void> Connection::serve_socket(const Request& head, std::shared_ptr<Exchange> exchange,
                                               std::size_t longest, Writing& writing) {
  namespace websocket = beast::websocket;
  using Kind = Exchange::Part::Kind;
  Exchange::Part first = *co_await exchange->parts_->take();
  writing.has_begun = true;
  if (first.kind == Kind::whole) {
    writing.keep_alive = false;
    co_await send_response(std::move(first.response), writing);
    co_await linger();
    co_return;
  }
  websocket::stream<Stream&, false> socket(stream_);
  // Pings are written below, because Beast's own pings (Boost 1.81) can corrupt a message that is being written.
  socket.set_option(websocket::stream_base::timeout{.handshake_timeout = server_.limits().header_time,
                                                    .idle_timeout = websocket::stream_base::none(),
                                                    .keep_alive_pings = false});
  socket.read_message_max(longest);
  socket.text(true);
  auto from = writing.response<http::empty_body>(server_.application(), first.response);
  socket.set_option(websocket::stream_base::decorator([&from](websocket::response_type& to) {
    for (const auto& field : from) {
      if (field.name() != http::field::connection) to.set(field.name_string(), field.value());
    }
  }));
  writing.finished.status = 101;
  const auto [refused] = co_await socket.async_accept(head, kResult);
  if (refused) co_return;

  // Pongs arrive only during a read, and a read begins only after the handler has asked for a message.
  auto last_heard = Clock::now();
  bool is_reading = false;
  socket.control_callback([&last_heard](websocket::frame_type, beast::string_view) { last_heard = Clock::now(); });
  const auto read = [&]() -> asio::awaitable<void> {
    for (;;) {
      co_await exchange->asked_->take();
      std::string message;
      auto buffer = asio::dynamic_buffer(message);
      is_reading = true;
      do {
        last_heard = Clock::now();
        const auto [error, size] = co_await socket.async_read_some(buffer, kBodyBytes, kResult);
        if (error) co_return;
      } while (!socket.is_message_done());
      is_reading = false;
      exchange->on_message(std::move(message), socket.got_text());
    }
  };
  // Writes `part`: a message or the close frame. If `part` is unset, writes a ping.
  const auto write_part = [&](const std::optional<Exchange::Part>& part) -> asio::awaitable<error_code> {
    error_code error;
    if (!part) {
      std::tie(error) = co_await socket.async_ping({}, kResult);
    } else if (part->kind == Kind::end) {
      websocket::close_reason reason(part->response.body);
      reason.code = static_cast<std::uint16_t>(part->response.status);
      std::tie(error) = co_await socket.async_close(reason, kResult);
    } else {
      const std::string& text = part->response.body;
      writing.finished.bytes += text.size();
      std::tie(error, std::ignore) = co_await socket.async_write(asio::buffer(text), kResult);
    }
    co_return error;
  };
  const auto write = [&]() -> asio::awaitable<void> {
    const auto ping_time = server_.limits().ping_time;
    for (error_code error; !error;) {
      const auto part = co_await exchange->parts_->take(Clock::now() + ping_time);
      if (!part && is_reading && Clock::now() > last_heard + 2 * ping_time + kWatchInterval) co_return;
      error = co_await within(server_.limits().write_time, write_part(part));
      if (part && part->kind == Kind::end) co_return;
    }
  };
  using asio::experimental::awaitable_operators::operator||;
  co_await (read() || write());
}

// Waits for an operation on a WebSocket, because expires_after() has no effect on WebSockets. Closes the connection if
// the operation takes longer than `time`.
asio::awaitable<error_code> Connection::within(std::chrono::seconds time, asio::awaitable<error_code> operation) {
  using asio::experimental::awaitable_operators::operator||;
  const auto close_late = [](Connection& self, std::chrono::seconds after) -> asio::awaitable<void> {
    asio::steady_timer timer(self.stream_.get_executor(), after);
    const auto [error] = co_await timer.async_wait(kResult);
    if (!error) self.stream_.close();
  };
  const auto ended = co_await (std::move(operation) || close_late(*this, time));
  co_return ended.index() == 0 ? std::get<0>(ended) : make_error_code(beast::error::timeout);
}

// Gives the client time to read its response. If a socket is closed with unread bytes, the operating system resets
// the connection, and the client may lose the response.
asio::awaitable<void> Connection::linger() {
  error_code ignored;
  stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
  stream_.expires_after(kLingerTime);
  for (std::size_t skipped = 0; skipped < kLingerBytes;) {
    buffer_.clear();
    const auto [error, size] = co_await stream_.async_read_some(buffer_.prepare(kReadBytes), kResult);
    if (error) break;
    skipped += size;
  }
}

}  // namespace encdec::serve
