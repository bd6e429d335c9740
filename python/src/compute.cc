#include "compute.h"

#include <pthread.h>

#include <atomic>
#include <exception>
#include <memory>
#include <thread>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/mutex.h"
#include "encdec/engine/base/per_process.h"
#include "encdec/engine/thread_team.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

// An exception that cancels `work` after a signal or after end_calls().
struct Interrupted : std::exception {};

struct Calls {
  std::atomic<int> count = 0;            // number of EngineCall objects
  std::atomic<bool> have_ended = false;  // whether end_calls() was called
};

Calls& calls() {
  static PerProcess<Calls>& calls = *new PerProcess<Calls>;  // never destroyed: threads may outlive end_calls()
  return calls.get([] { return std::make_unique<Calls>(); });
}

std::atomic<::pthread_t> main_thread = {};
thread_local bool helps_main_thread = false;  // whether this is a Helper's thread

// A thread that runs `work`. interrupt() cancels the work.
class Helper {
 public:
  explicit Helper(const std::function<void()>& work)
      : thread_(start_thread(1, 1, [this, &work] {
          helps_main_thread = true;
          {
            const CancellationScope scope(check_);
            try {
              work();
            } catch (...) {
              failure_ = std::current_exception();
            }
          }
          const MutexLock lock(mutex_);
          done_ = true;
          changed_.notify_all();
        })) {}

  void interrupt() { interrupted_ = true; }
  // Waits until the work is done, but at most for `time`. Returns whether the work is done.
  bool wait(std::chrono::milliseconds time) {
    const MutexLock lock(mutex_);
    if (!done_) changed_.wait_for(mutex_, time);
    return done_;
  }
  std::exception_ptr join() {
    thread_.join();
    return failure_;
  }

 private:
  std::atomic<bool> interrupted_ = false;
  std::function<void()> check_ = [this] {
    if (interrupted_) throw Interrupted();
  };
  Mutex mutex_;
  Condition changed_;
  bool done_ ENCDEC_GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace

void find_main_thread() {
  main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  ::pthread_atfork(nullptr, nullptr, [] { main_thread = ::pthread_self(); });
}

bool is_main_thread() {
  return main_thread == ::pthread_self();
}

void check_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void exit_after_end() {
  if (!calls().have_ended || is_main_thread() || helps_main_thread) return;
  PyErr_SetNone(PyExc_SystemExit);
  throw nb::python_error();
}

EngineCall::Counted::Counted() : count(calls().count) {
  ++count;
}

EngineCall::EngineCall() {
  exit_after_end();
  released_.emplace();
}

void end_calls() {
  calls().have_ended = true;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (calls().count > 0 && std::chrono::steady_clock::now() < deadline) {
    const LockReleased released;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void run_without_lock(const std::function<void()>& work) {
  // If this is a callback from work that a Helper runs, the same Helper can cancel this work too.
  if (helps_main_thread) {
    const EngineCall call;
    return work();
  }
  // Only the main thread runs signal handlers, so another thread needs no Helper.
  if (!is_main_thread()) {
    const std::function<void()> check = [] {
      if (calls().have_ended) throw Interrupted();
    };
    try {
      const EngineCall call;
      const CancellationScope scope(check);
      return work();
    } catch (const Interrupted&) {
      exit_after_end();
      throw;
    }
  }
  // The main thread runs signal handlers while the Helper works. The first exception of a handler cancels the work.
  std::optional<nb::python_error> raised;
  std::exception_ptr failure;
  {
    const EngineCall call;
    Helper helper(work);
    while (!helper.wait(kSignalInterval)) {
      const LockTaken taken;
      if (raised || PyErr_CheckSignals() == 0) continue;
      raised.emplace();
      helper.interrupt();
    }
    failure = helper.join();
  }
  if (raised) throw nb::python_error(*std::move(raised));
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace encdec::python
