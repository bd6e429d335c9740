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

// Time between a waiting thread's checks for signals. Ctrl-C should take 0.2 s at most, 0.1 s of it to cancel work.
inline constexpr std::chrono::milliseconds kSignalInterval(40);

[[noreturn]] inline void wait_for_ever() {
  for (;;) ::pause();
}

// Runs `call`, which takes the interpreter's lock. After the interpreter has ended, threads other than the main thread
// wait for ever here, as in CPython 3.14. Earlier versions call pthread_exit() instead, which unwinds the stack and
// ends the process at the first noexcept function.
template <class Call>
void take_lock(const Call& call) {
  try {
    call();
  } catch (const abi::__forced_unwind&) {
    wait_for_ever();
  }
}

// Holds the interpreter's lock. Like nanobind's gil_scoped_acquire, but with take_lock().
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

// Releases the interpreter's lock. Like nanobind's gil_scoped_release, but with take_lock().
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

// Releases the interpreter's lock for a call into the engine. end_calls() waits for the end of this object.
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
  Counted counted_;  // declared first: counts until the lock is taken again
  std::optional<LockReleased> released_;
};

// Cancels the calls of all threads except the main thread. Call this before the interpreter ends and destroys objects
// that the calls use. Waits for at most a second, because a thread that waits for a file may not notice.
void end_calls();

// After end_calls(), throws SystemExit in any thread but the main thread. This ends the thread without a message.
void exit_after_end();

// Runs `work` without the interpreter's lock. On the main thread, runs Python's signal handlers meanwhile; if a handler
// raises an exception, cancels the work and throws that exception. On other threads, end_calls() cancels the work.
// REQUIRES: `work` uses no Python objects.
void run_without_lock(const std::function<void()>& work);

// Like run_without_lock(), but returns the result of `work`.
template <class Work>
auto compute(const Work& work) {
  std::optional<std::invoke_result_t<const Work&>> result;
  run_without_lock([&] { result.emplace(work()); });
  return *std::move(result);
}

// Finds Python's main thread, which runs signal handlers. After fork(), the main thread is the thread that called
// fork(). Call this function once.
void find_main_thread();

// Returns whether this is Python's main thread. Runs no Python code, which could release the interpreter's lock.
bool is_main_thread();

// Runs Python's signal handlers, and throws their exceptions. REQUIRES: the interpreter's lock is held.
void check_signals();

}  // namespace encdec::python
