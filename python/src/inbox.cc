#include "inbox.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "compute.h"
#include "encdec/engine/base/error.h"
#include "encdec/engine/base/mutex.h"
#include "results.h"

namespace encdec::python {

namespace nb = nanobind;

// The queue. Callbacks share it, and may outlive the Inbox. An eventfd signals that the queue is not empty.
class Inbox::State {
 public:
  State() {
    if (descriptor_ >= 0) return;
    throw ResourceError(fmt::format("eventfd: {}: see the limit on open files (ulimit -n)", std::strerror(errno)));
  }
  ~State() { ::close(descriptor_); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  int descriptor() const { return descriptor_; }
  void check_process() const {
    if (process_ == ::getpid()) return;
    throw Error("this iterator's work runs in the parent process, expected an iterator created after fork()");
  }

  void put(Event event) {
    const MutexLock lock(mutex_);
    events_.push_back(std::move(event));
    if (events_.size() == 1) wake();
  }
  void end() {
    const MutexLock lock(mutex_);
    has_ended_ = true;
    wake();
  }
  std::vector<Event> take() {
    check_process();
    const MutexLock lock(mutex_);
    std::uint64_t count = 0;
    // Reset the descriptor, unless the inbox has ended: then the descriptor must stay readable.
    if (!has_ended_) static_cast<void>(::read(descriptor_, &count, sizeof(count)) == sizeof(count));
    return std::exchange(events_, {});
  }

 private:
  void wake() const {
    const std::uint64_t one = 1;
    static_cast<void>(::write(descriptor_, &one, sizeof(one)) == sizeof(one));
  }

  const ::pid_t process_ = ::getpid();
  const int descriptor_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  Mutex mutex_;
  std::vector<Event> events_ ENCDEC_GUARDED_BY(mutex_);
  bool has_ended_ ENCDEC_GUARDED_BY(mutex_) = false;
};

Inbox::Inbox() : state_(std::make_shared<State>()) {}

int Inbox::descriptor() const {
  return state_->descriptor();
}

std::vector<Event> Inbox::take() {
  return state_->take();
}

void Inbox::end() {
  state_->end();
}

void Inbox::wait() const {
  state_->check_process();
  // Only the main thread runs signal handlers, so no other thread has to wake up regularly.
  const int interval = is_main_thread() ? static_cast<int>(kSignalInterval.count()) : -1;
  ::pollfd waiting{.fd = state_->descriptor(), .events = POLLIN, .revents = 0};
  for (;;) {
    {
      const LockReleased released;
      if (::poll(&waiting, 1, interval) > 0) return;
    }
    check_signals();
  }
}

std::function<void(Event)> Inbox::adder() const {
  return [state = state_](Event event) { state->put(std::move(event)); };
}

std::function<void(std::size_t, std::exception_ptr)> Inbox::put_failure(std::uint64_t request) const {
  return put<std::exception_ptr>(request, "failure",
                                 [](const std::exception_ptr& failure) { return to_python(failure); });
}

}  // namespace encdec::python
