#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <functional>
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

// Returns whether this is Python's main thread, the only one that runs signal handlers. In a forked process that is the
// thread that has called fork().
bool is_main_thread();

// Runs Python's signal handlers, and throws the exception of a handler. REQUIRES: the interpreter's lock is held.
void check_signals();

}  // namespace encdec::python
