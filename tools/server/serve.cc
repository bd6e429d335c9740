#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "server/http/listener.h"
#include "server/service.h"
#include "server/settings.h"

namespace encdec::serve {
namespace {

// Reports `state` to the service manager that started this process, if any (sd_notify(3)).
void notify(std::string_view state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  if (path == nullptr || std::strlen(path) >= sizeof name.sun_path) return;
  std::strcpy(name.sun_path, path);
  if (name.sun_path[0] == '@') name.sun_path[0] = '\0';
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(path));
  ::sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
           reinterpret_cast<const sockaddr*>(&name), size);
  ::close(descriptor);
}

// Returns the time between two reports to the service manager's watchdog: half of the watchdog's timeout
// (sd_watchdog_enabled(3)). Returns 0 if there is no watchdog.
std::chrono::microseconds watchdog_interval() {
  const char* text = std::getenv("WATCHDOG_USEC");
  return std::chrono::microseconds(text != nullptr ? std::strtoll(text, nullptr, 10) / 2 : 0);
}

// Raises the limit on open descriptors for `connections`, as far as the operating system permits.
void allow_connections(std::size_t connections) {
  constexpr rlim_t kOthers = 256;  // descriptors for listeners, model files and other uses
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, std::max<rlim_t>(limit.rlim_cur, connections + kOthers));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::vector<Listener> open_listeners(const ServeSettings& settings) {
  std::vector<Listener> listeners = Listener::inherited();
  if (!listeners.empty()) return listeners;
  if (!settings.host.empty()) listeners = Listener::tcp(settings.host, settings.port);
  if (!settings.unix_path.empty()) listeners.push_back(Listener::unix_socket(settings.unix_path));
  return listeners;
}

volatile std::sig_atomic_t exit_status = 0;

extern "C" void exit_now(int /*signal*/) {
  std::_Exit(exit_status);
}

}  // namespace

void exit_within(std::chrono::seconds time, int status) {
  exit_status = status;
  std::signal(SIGALRM, &exit_now);
  ::alarm(static_cast<unsigned>(time.count()));
}

void serve(const ServeSettings& settings) {
  allow_connections(settings.http.connections);
  std::vector<Listener> listeners = open_listeners(settings);
  Service service(settings, std::ranges::all_of(listeners, &Listener::is_loopback));
  HttpServer server(service, settings.http);
  std::vector<std::string> addresses;
  for (Listener& listener : listeners) {
    addresses.push_back(listener.address());
    server.listen(std::move(listener));
  }

  bool is_signalled = false;
  asio::signal_set signals(server.context(), SIGINT, SIGTERM);
  signals.async_wait([&signals, &is_signalled, &settings, &service, &server](auto error, int signal) {
    if (error) return;
    is_signalled = true;
    // A second signal or the alarm ends the process. Both need plain signal handlers, because threads may be blocked.
    signals.clear();
    std::signal(SIGINT, &exit_now);
    std::signal(SIGTERM, &exit_now);
    exit_within(settings.limits.drain_time + std::chrono::seconds(1), 0);
    notify("STOPPING=1");
    spdlog::info("{}: finishing accepted requests", signal == SIGINT ? "SIGINT" : "SIGTERM");
    service.begin_draining();
    server.drain(settings.limits.drain_time);
  });

  std::atomic<bool> is_ready = false;
  const std::chrono::microseconds interval = watchdog_interval();
  asio::steady_timer watchdog(server.context());
  // Reports to the watchdog while the service is healthy.
  std::function<void(boost::system::error_code)> feed_watchdog = [&](boost::system::error_code error) {
    if (error) return;
    if (is_ready && service.health().status == 200) notify("WATCHDOG=1");
    watchdog.expires_after(interval);
    watchdog.async_wait(feed_watchdog);
  };
  if (interval.count() > 0) feed_watchdog({});

  // Load the models in a separate thread, so that probes are served meanwhile.
  std::exception_ptr failure;
  std::thread loader([&] {
    try {
      service.load();
      notify("READY=1");
      is_ready = true;
      std::vector<std::string> names;
      for (const auto& model : service.models().all()) names.push_back(model->name());
      spdlog::info("serving {} at {}", fmt::join(names, ", "), fmt::join(addresses, ", "));
    } catch (...) {
      failure = std::current_exception();
      server.stop();
    }
  });
  // Serve until draining ends or an error occurs. After a signal, do not report an error of loading.
  std::exception_ptr broken;
  try {
    server.run();
  } catch (...) {
    broken = std::current_exception();
  }
  service.begin_draining();
  loader.join();
  service.stop();
  if (broken) std::rethrow_exception(broken);
  if (failure && !is_signalled) std::rethrow_exception(failure);
}

}  // namespace encdec::serve
