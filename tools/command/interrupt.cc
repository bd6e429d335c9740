#include "command/interrupt.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

namespace encdec::cli {
namespace {

// The last signal received, or 0. All computing threads read it. A signal handler may write only lock-free atomics.
std::atomic<int> received_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);
// A pipe to which the signal handler writes. wait_for_input() polls the pipe, to notice also a signal that arrives
// between the check of received_signal and poll().
std::array<int, 2> wake_pipe = {-1, -1};

void on_signal(int signal) {
  const int saved_errno = errno;
  received_signal = signal;
  [[maybe_unused]] const auto written = ::write(wake_pipe[1], "", 1);
  errno = saved_errno;
}

}  // namespace

Interrupted::Interrupted(int signal, std::string_view detail)
    : std::runtime_error(fmt::format("stopped by {}{}", signal == SIGINT ? "SIGINT" : "SIGTERM", detail)),
      signal_(signal) {}

void watch_interrupts() {
  if (::pipe(wake_pipe.data()) != 0) return;  // without a pipe, signals end the process, as by default
  for (const int end : wake_pipe) {
    ::fcntl(end, F_SETFD, FD_CLOEXEC);
    ::fcntl(end, F_SETFL, O_NONBLOCK);
  }
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction previous = {};
    // An ignored signal stays ignored: shells start background jobs with SIGINT ignored.
    if (::sigaction(signal, nullptr, &previous) == 0 && previous.sa_handler != SIG_IGN) {
      ::sigaction(signal, &action, nullptr);
    }
  }
}

void throw_if_interrupted() {
  if (const int signal = received_signal; signal != 0) throw Interrupted(signal);
}

void wait_for_input(int descriptor) {
  std::array<pollfd, 2> waiting = {{{descriptor, POLLIN, 0}, {wake_pipe[0], POLLIN, 0}}};
  do {
    throw_if_interrupted();
  } while (::poll(waiting.data(), waiting.size(), -1) < 0 && errno == EINTR);
  throw_if_interrupted();
}

}  // namespace encdec::cli
