#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace encdec::python {

// Time between two checks for signals by a waiting thread. Ctrl-C should take effect within 0.2 s, and work stops
// within 0.1 s after it is cancelled.
inline constexpr std::chrono::milliseconds kSignalInterval(40);

// Runs `work` without the interpreter's lock. Runs Python's signal handlers meanwhile. If a handler raises an
// exception, cancels the work and throws that exception. REQUIRES: `work` uses no Python objects.
void run_without_lock(const std::function<void()>& work);

// Runs `work` as run_without_lock() does, and returns its result.
template <class Work>
auto compute(const Work& work) {
  std::optional<std::invoke_result_t<const Work&>> result;
  run_without_lock([&] { result.emplace(work()); });
  return *std::move(result);
}

// Runs Python's signal handlers, and throws the exception of a handler. REQUIRES: the interpreter's lock is held.
void check_signals();

// Waits until `ready` returns true. Releases the interpreter's lock while waiting, and runs Python's signal handlers
// meanwhile. `lock` is held on return and while `ready` is called.
// REQUIRES: no thread that holds the mutex of `lock` waits for the interpreter's lock.
template <class Ready>
void wait_without_lock(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, const Ready& ready) {
  while (!ready()) {
    {
      const nanobind::gil_scoped_release release;
      changed.wait_for(lock, kSignalInterval, ready);
      lock.unlock();
    }
    check_signals();
    lock.lock();
  }
}

}  // namespace encdec::python
