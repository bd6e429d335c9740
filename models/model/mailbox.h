#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/mutex.h"

namespace encdec {

// Passes events from a queue's workers to one waiting thread.
template <class Event>
class Mailbox {
 public:
  void put(Event event) {
    const MutexLock lock(mutex_);
    events_.push_back(std::move(event));
    changed_.notify_one();
  }
  // Ends the wait in take() without an event.
  void wake() {
    const MutexLock lock(mutex_);
    is_woken_ = true;
    changed_.notify_one();
  }

  // Waits for events or wake(), at most `time`. Returns all events, oldest first. Throws the
  // exception of the caller's CancellationScope, if that is cancelled.
  std::vector<Event> take(std::chrono::milliseconds time) {
    check_cancelled();
    const MutexLock lock(mutex_);
    if (events_.empty() && !is_woken_) changed_.wait_for(mutex_, time);
    is_woken_ = false;
    return std::exchange(events_, {});
  }

 private:
  Mutex mutex_;
  Condition changed_;
  std::vector<Event> events_ ENCDEC_GUARDED_BY(mutex_);
  bool is_woken_ ENCDEC_GUARDED_BY(mutex_) = false;
};

// Returns a function that calls `callback`, passes its exceptions to `report` and rethrows them. Without the report, an
// exception would be lost if the worker has no source that can fail. Returns an empty function for an empty `callback`.
template <class Value, class Report>
std::function<void(const Value&)> reporting_failures(const std::function<void(const Value&)>& callback, Report report) {
  if (!callback) return {};
  return [callback, report](const Value& value) {
    try {
      callback(value);
    } catch (...) {
      report(std::current_exception());
      throw;
    }
  };
}

// Maximum time that a thread waits for events before it checks for cancellation.
inline constexpr std::chrono::milliseconds kCancellationInterval(20);

}  // namespace encdec
