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

// How often a thread that waits looks for signals: Ctrl-C should be noticed within 0.2 s, and work stops within 0.1 s.
inline constexpr std::chrono::milliseconds kSignalInterval(40);

// Does the work without the interpreter's lock. Signals are noticed meanwhile, and what their handlers raise ends it.
void run_without_lock(const std::function<void()>& work);

// The same, and gives what it gives. The work must not touch Python's objects.
template <class Work>
auto compute(const Work& work) {
  std::optional<std::invoke_result_t<const Work&>> result;
  run_without_lock([&] { result.emplace(work()); });
  return *std::move(result);
}

// Calls PyErr_CheckSignals() with the lock held, and throws what a handler has raised.
void check_signals();

// Waits without the lock until `ready`; signals are noticed meanwhile. `lock` is held on return, and while `ready` is
// called; nobody who has it may want the interpreter's.
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
