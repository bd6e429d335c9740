#include "compute.h"

#include <atomic>
#include <exception>
#include <thread>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/mutex.h"
#include "encdec/engine/thread_team.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

struct Interrupted : std::exception {};

// A thread that runs `work`, and can cancel it.
class Helper {
 public:
  explicit Helper(const std::function<void()>& work)
      : thread_(start_thread(1, 1, [this, &work] {
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

bool is_main_thread() {
  const nb::object main = nb::module_::import_("threading").attr("main_thread")();
  return nb::cast<unsigned long>(main.attr("ident")) == PyThread_get_thread_ident();
}

void check_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void run_without_lock(const std::function<void()>& work) {
  if (!is_main_thread()) {
    const nb::gil_scoped_release release;
    work();
    return;
  }
  std::optional<nb::python_error> raised;
  std::exception_ptr failure;
  {
    const nb::gil_scoped_release release;
    Helper helper(work);
    while (!helper.wait(kSignalInterval)) {
      const nb::gil_scoped_acquire acquire;
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
