#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace encdec::python {

// Time between two checks for signals by a waiting thread. Ctrl-C should take effect within 0.2 s, and work stops
// within 0.1 s after it is cancelled.
inline constexpr std::chrono::milliseconds kSignalInterval(40);

[[noreturn]] inline void wait_for_ever() {
  for (;;) ::pause();
}

// Runs `call`, which takes the interpreter's lock. Once the interpreter has ended, waits for ever in other threads than
// the main one, as CPython 3.14 does. Earlier versions call pthread_exit() there, which unwinds the stack: destructors
// and functions that may not throw then end the process.
template <class Call>
void take_lock(const Call& call) {
  try {
    call();
  } catch (const abi::__forced_unwind&) {
    wait_for_ever();
  }
}

// Holds the interpreter's lock, as nanobind's gil_scoped_acquire does, but with take_lock().
class LockTaken {
 public:
  LockTaken() {
    take_lock([this] { state_ = PyGILState_Ensure(); });
  }
  ~LockTaken() { PyGILState_Release(state_); }
  LockTaken(const LockTaken&) = delete;
  LockTaken& operator=(const LockTaken&) = delete;

 private:
  PyGILState_STATE state_ = {};
};

// Releases the interpreter's lock, as nanobind's gil_scoped_release does, but with take_lock().
class LockReleased {
 public:
  LockReleased() : state_(PyEval_SaveThread()) {}
  ~LockReleased() {
    take_lock([this] { PyEval_RestoreThread(state_); });
  }
  LockReleased(const LockReleased&) = delete;
  LockReleased& operator=(const LockReleased&) = delete;

 private:
  PyThreadState* state_;
};

// Releases the interpreter's lock for a call of the engine, for which end_calls() waits.
class EngineCall {
 public:
  EngineCall();  // throws as exit_after_end() does

 private:
  struct Counted {
    Counted();
    ~Counted() { --count; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

    std::atomic<int>& count;
  };
  Counted counted_;  // until the lock is taken again
  std::optional<LockReleased> released_;
};

// Ends the calls of all threads but the main one, before the interpreter ends and objects that they use are destroyed.
// Waits for them for at most a second: a thread that waits for a file may not notice.
void end_calls();

// Throws SystemExit, which ends a thread without a message, after end_calls() in other threads than the main one.
void exit_after_end();

// Runs `work` without the interpreter's lock. Runs Python's signal handlers meanwhile. If a handler raises an
// exception, cancels the work and throws that exception. In other threads than the main one end_calls() cancels the
// work. REQUIRES: `work` uses no Python objects.
void run_without_lock(const std::function<void()>& work);

// Runs `work` as run_without_lock() does, and returns its result.
template <class Work>
auto compute(const Work& work) {
  std::optional<std::invoke_result_t<const Work&>> result;
  run_without_lock([&] { result.emplace(work()); });
  return *std::move(result);
}

// Finds Python's main thread, the only one that runs signal handlers. In a forked process that is the thread that has
// called fork(). To be called once.
void find_main_thread();

// Returns whether this is Python's main thread. Runs no Python code, which might give the lock to another thread.
bool is_main_thread();

// Runs Python's signal handlers, and throws the exception of a handler. REQUIRES: the interpreter's lock is held.
void check_signals();

}  // namespace encdec::python
