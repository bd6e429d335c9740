#include "compute.h"

#include <atomic>
#include <exception>
#include <thread>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/mutex.h"
#include "encdec/engine/base/per_process.h"
#include "encdec/engine/thread_team.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

struct Interrupted : std::exception {};

std::atomic<bool> is_ending = false;  // whether end_calls() was called
PerProcess<std::atomic<int>> calls;   // number of EngineCall objects

// Throws SystemExit, which ends the calling thread without a message.
[[noreturn]] void exit_thread() {
  PyErr_SetNone(PyExc_SystemExit);
  throw nb::python_error();
}

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

EngineCall::Count::Count() : calls_(calls.get([] { return std::make_unique<std::atomic<int>>(0); })) {
  if (is_ending && !is_main_thread()) exit_thread();
  ++calls_;
}

void end_calls() {
  is_ending = true;
  const std::atomic<int>* const count = calls.find();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (count != nullptr && *count > 0 && std::chrono::steady_clock::now() < deadline) {
    const LockReleased released;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void run_without_lock(const std::function<void()>& work) {
  if (!is_main_thread()) {
    static const std::function<void()> check = [] {
      if (is_ending) throw Interrupted();
    };
    try {
      const EngineCall call;
      const CancellationScope scope(check);
      return work();
    } catch (const Interrupted&) {
      exit_thread();
    }
  }
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
