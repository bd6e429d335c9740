#pragma once

#include <cstdint>
#include <functional>

namespace encdec {

// Makes the library calls of this thread cancellable while the scope lives. Loading, tokenizing and
// running call `check` at least every 100 ms. To cancel, `check` throws; the exception leaves the
// library call.
// Scopes nest; only the innermost `check` is called.
// REQUIRES: `check` is quick and thread-safe, because helper threads call it too.
class CancellationScope {
 public:
  // Keeps a reference to `check`.
  explicit CancellationScope(const std::function<void()>& check) : CancellationScope(&check) {}
  // For a helper thread. `check` is what check_of_this_thread() returned in the thread that is helped, or null.
  explicit CancellationScope(const std::function<void()>* check);
  ~CancellationScope();
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;

  // Returns the check of this thread's innermost scope; null if there is no scope.
  static const std::function<void()>* check_of_this_thread();

 private:
  const std::function<void()>* outer_;
};

// Calls the check of this thread's innermost scope, if there is one. Throws what the check throws.
void check_cancelled();

// Calls check_cancelled() on every 4096th call. For steps that take less than a microsecond.
inline void poll_cancelled() {
  constexpr std::uint32_t kSteps = 4096;
  constinit static thread_local std::uint32_t steps = 0;
  if (++steps % kSteps == 0) check_cancelled();
}

}  // namespace encdec
