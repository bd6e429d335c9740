#pragma once

#include <cstdint>
#include <functional>

namespace encdec {

// While it lives, work that this thread gives the library can be stopped: loading, tokenizing and running call `check`
// time and again, at least every 100 ms, and what it throws ends the work and comes out of the call. Threads that help
// with it call `check` too, so it may be called by several at once; that it is called often means that it should be
// quick. Scopes nest: the innermost counts.
class CancellationScope {
 public:
  // Keeps a reference.
  explicit CancellationScope(const std::function<void()>& check) : CancellationScope(&check) {}
  // A helper takes part in the scope of whom it helps.
  explicit CancellationScope(const std::function<void()>* check);
  ~CancellationScope();
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;

  // That of the innermost scope of this thread; null if there is none.
  static const std::function<void()>* check_of_this_thread();

 private:
  const std::function<void()>* outer_;
};

// Throws if someone wants the work of this thread stopped.
void check_cancelled();

// The same once in many calls: for steps that take less than a microsecond.
inline void poll_cancelled() {
  constexpr std::uint32_t kSteps = 4096;
  constinit static thread_local std::uint32_t steps = 0;
  if (++steps % kSteps == 0) check_cancelled();
}

}  // namespace encdec
