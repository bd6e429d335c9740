#include "server/http/listener.h"

#include <encdec/engine/base/error.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "common/parse_number.h"

namespace encdec::serve {
namespace {

constexpr int kBacklog = 1024;

[[noreturn]] void fail(const std::string& address, const char* reason) {
  throw Error(fmt::format("{}: {}", address, reason));
}

// Returns the number in an environment variable, or -1 if the variable is unset or not a number.
int number_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? -1 : cli::parse_number<int>(text).value_or(-1);
}

// Returns the address to which a socket is bound. If the address cannot be determined, returns the family AF_UNSPEC.
sockaddr_storage name_of(int descriptor, socklen_t& size) {
  sockaddr_storage name = {};
  size = sizeof name;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&name), &size) != 0) name.ss_family = AF_UNSPEC;
  return name;
}

}  // namespace

std::vector<Listener> Listener::tcp(const std::string& host, int port) {
  const std::string address = fmt::format("{}:{}", host, port);
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0) {
    fail(address, error == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> infos(found, &::freeaddrinfo);
  std::vector<Listener> listeners;
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
    Listener listener(::socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    if (info->ai_family == AF_INET6) {
      ::setsockopt(listener.descriptor_, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    }
    // Permit a port that another server has just released.
    ::setsockopt(listener.descriptor_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (listener.descriptor_ < 0 || ::bind(listener.descriptor_, info->ai_addr, info->ai_addrlen) != 0 ||
        ::listen(listener.descriptor_, kBacklog) != 0) {
      // A host name may resolve to addresses that this machine does not have, so one success is enough.
      if (!listeners.empty() || info->ai_next != nullptr) continue;
      fail(address, std::strerror(errno));
    }
    listeners.push_back(std::move(listener));
    if (port == 0) break;
  }
  return listeners;
}

Listener Listener::unix_socket(const std::string& path) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof name.sun_path) {
    fail(path, fmt::format("expected a path of at most {} bytes", sizeof name.sun_path - 1).c_str());
  }
  std::memcpy(name.sun_path, path.c_str(), path.size());
  const auto* address = reinterpret_cast<const sockaddr*>(&name);
  const auto open = [&] { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); };
  Listener listener(open());
  if (listener.descriptor_ < 0) fail(path, std::strerror(errno));
  if (::bind(listener.descriptor_, address, sizeof name) != 0) {
    // If the path is a socket on which no process listens, remove the socket. Do not remove any other file.
    struct stat status = {};
    if (errno != EADDRINUSE || ::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) {
      fail(path, std::strerror(errno));
    }
    const Listener probe(open());
    if (::connect(probe.descriptor_, address, sizeof name) == 0 || errno != ECONNREFUSED) {
      fail(path, "another process listens there");
    }
    ::unlink(path.c_str());
    if (::bind(listener.descriptor_, address, sizeof name) != 0) fail(path, std::strerror(errno));
  }
  listener.path_ = path;
  if (::listen(listener.descriptor_, kBacklog) != 0) fail(path, std::strerror(errno));
  return listener;
}

std::vector<Listener> Listener::inherited() {
  constexpr int kFirst = 3;  // SD_LISTEN_FDS_START
  std::vector<Listener> listeners;
  if (number_of("LISTEN_PID") == ::getpid()) {
    for (int number = 0; number < number_of("LISTEN_FDS"); ++number) {
      Listener listener(kFirst + number);
      int is_listening = 0;
      socklen_t size = sizeof is_listening;
      if (::getsockopt(listener.descriptor_, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) != 0 || !is_listening) {
        fail(fmt::format("descriptor {} of LISTEN_FDS", listener.descriptor_), "expected a listening socket");
      }
      ::fcntl(listener.descriptor_, F_SETFD, FD_CLOEXEC);
      ::fcntl(listener.descriptor_, F_SETFL, ::fcntl(listener.descriptor_, F_GETFL) | O_NONBLOCK);
      listeners.push_back(std::move(listener));
    }
  }
  for (const char* variable : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(variable);
  return listeners;
}

Listener::Listener(Listener&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::exchange(other.path_, {})) {}

Listener::~Listener() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!path_.empty()) ::unlink(path_.c_str());
}

bool Listener::is_local() const {
  socklen_t size = 0;
  return name_of(descriptor_, size).ss_family == AF_UNIX;
}

bool Listener::is_loopback() const {
  socklen_t size = 0;
  const sockaddr_storage name = name_of(descriptor_, size);
  if (name.ss_family == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(name).sin6_addr);
  if (name.ss_family != AF_INET) return name.ss_family == AF_UNIX;
  return ntohl(reinterpret_cast<const sockaddr_in&>(name).sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
}

std::string Listener::address() const {
  socklen_t size = 0;
  const sockaddr_storage name = name_of(descriptor_, size);
  if (name.ss_family == AF_UNIX) {
    return std::string("unix:") + reinterpret_cast<const sockaddr_un*>(&name)->sun_path;
  }
  std::array<char, NI_MAXHOST> host = {};
  std::array<char, NI_MAXSERV> port = {};
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&name), size, host.data(), host.size(), port.data(), port.size(),
                NI_NUMERICHOST | NI_NUMERICSERV);
  return name.ss_family == AF_INET6 ? fmt::format("http://[{}]:{}", host.data(), port.data())
                                    : fmt::format("http://{}:{}", host.data(), port.data());
}

}  // namespace encdec::serve
