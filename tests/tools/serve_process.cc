#include "tests/tools/serve_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace encdec {
namespace {

sockaddr_un name_of(const std::string& path) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  return name;
}

std::vector<std::string> arguments(const std::string& socket, const std::vector<std::string>& more) {
  std::vector<std::string> all = {
      kEncdec, "serve",     "--host", "",        "--unix",
      socket,  "--threads", "1",      "--model", std::string(ENCDEC_PRETRAINED_DIR) + "/english-pronunciation"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<std::string> arguments(const std::string& socket, const Limits& limits) {
  std::vector<std::string> all = {
      ENCDEC_LIMITED_SERVER, "unix=" + socket,
      "model=english-pronunciation=" + std::string(ENCDEC_PRETRAINED_DIR) + "/english-pronunciation"};
  all.insert(all.end(), limits.values.begin(), limits.values.end());
  return all;
}

}  // namespace

NotifySocket::NotifySocket(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  const sockaddr_un name = name_of(path);
  if (::bind(socket_, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) throw std::runtime_error(path);
  timeval longest = {.tv_sec = 60, .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
}

NotifySocket::~NotifySocket() {
  ::unsetenv("NOTIFY_SOCKET");
  ::close(socket_);
}

std::string NotifySocket::wait() const {
  std::array<char, 64> text = {};
  const ssize_t size = ::recv(socket_, text.data(), text.size(), 0);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

bool NotifySocket::comes_within(std::chrono::milliseconds time) const {
  pollfd waited = {.fd = socket_, .events = POLLIN, .revents = 0};
  return ::poll(&waited, 1, static_cast<int>(time.count())) > 0;
}

Connection::Connection(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const sockaddr_un name = name_of(path);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
    ::close(socket_);
    throw std::runtime_error("connect");
  }
  timeval longest = {.tv_sec = 600, .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
}

Connection::~Connection() {
  ::close(socket_);
}

void Connection::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t size = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return;  // the server has closed the connection; its response can still be read
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

void Connection::shut() const {
  ::shutdown(socket_, SHUT_WR);
}

bool Connection::fill() {
  std::array<char, 16384> piece = {};
  const ssize_t size = ::recv(socket_, piece.data(), piece.size(), 0);
  if (size <= 0) return false;
  received_.append(piece.data(), static_cast<std::size_t>(size));
  return true;
}

std::string Connection::receive() {
  std::size_t end = 0;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (!fill()) return std::exchange(received_, {});
  }
  end += 4;
  constexpr std::string_view kLength = "Content-Length: ";
  const std::size_t length = received_.find(kLength);
  std::size_t size = 0;
  if (length < end) {
    std::from_chars(received_.data() + length + kLength.size(), received_.data() + end, size);
  } else if (received_.find("chunked") < end) {
    while (received_.find("\r\n0\r\n\r\n", end - 2) == std::string::npos && fill()) {
    }
    size = received_.size() - end;
  }
  while (received_.size() < end + size && fill()) {
  }
  std::string response = received_.substr(0, end + size);
  received_.erase(0, end + size);
  return response;
}

bool Connection::wait_for(std::string_view text) {
  while (received_.find(text) == std::string::npos) {
    if (!fill()) return false;
  }
  return true;
}

std::string Connection::receive_all() {
  while (fill()) {
  }
  return std::exchange(received_, {});
}

ServeProcess::ServeProcess(const std::vector<std::string>& more, const std::string& socket)
    : socket_(socket.empty() ? folder_.path("socket") : socket),
      ready_(folder_.path("ready")),
      process_(arguments(socket_, more)) {
  if (ready_.wait() != "READY=1") throw std::runtime_error(process_.wait().errors);
}

ServeProcess::ServeProcess(const Limits& limits)
    : socket_(folder_.path("socket")), ready_(folder_.path("ready")), process_(arguments(socket_, limits)) {
  if (ready_.wait() != "READY=1") throw std::runtime_error(process_.wait().errors);
}

std::string ServeProcess::get(const std::string& path, const std::string& headers) const {
  Connection connection(socket_);
  connection.send(fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n{}\r\n", path, headers));
  return connection.receive();
}

std::string ServeProcess::post(const std::string& path, const std::string& body, const std::string& headers) const {
  Connection connection(socket_);
  connection.send(post_text(path, body, headers));
  return connection.receive();
}

double ServeProcess::metric(const std::string& name) const {
  const std::string text = get("/metrics");
  const std::size_t position = text.find("\n" + name + " ");
  return position == std::string::npos ? 0 : std::strtod(text.c_str() + position + name.size() + 2, nullptr);
}

std::string post_text(const std::string& path, const std::string& body, const std::string& headers) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n{}",
                     path, body.size(), headers, body);
}

std::string status_of(const std::string& response) {
  return response.starts_with("HTTP/1.") ? response.substr(9, 3) : response;
}

std::string body_of(const std::string& response) {
  const std::size_t end = response.find("\r\n\r\n");
  return end == std::string::npos ? std::string() : response.substr(end + 4);
}

}  // namespace encdec
