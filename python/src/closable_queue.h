#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "compute.h"
#include "encdec/engine/base/error.h"
#include "encdec/models/model/request_queue.h"

namespace encdec::python {

// A request queue that Python can close before the interpreter ends, even if objects still refer to it.
class ClosableQueue {
 public:
  ClosableQueue(Model model, const RequestQueueOptions& options)
      : queue_(std::make_shared<RequestQueue>(std::move(model), options)) {}
  ~ClosableQueue() { close(); }
  ClosableQueue(const ClosableQueue&) = delete;
  ClosableQueue& operator=(const ClosableQueue&) = delete;

  std::shared_ptr<RequestQueue> get() const {
    exit_after_end();
    if (queue_ == nullptr) throw Error("the interpreter is shutting down, expected no more requests");
    return queue_;
  }
  // Stops the queue and waits for its workers. This cannot deadlock: workers never wait for the interpreter's lock,
  // because their callbacks only add events to inboxes.
  void close() {
    std::shared_ptr<RequestQueue> last = std::exchange(queue_, nullptr);
    const LockReleased released;
    last = nullptr;
  }

 private:
  std::shared_ptr<RequestQueue> queue_;
};

// Calls `submit`, which tokenizes the inputs, without the interpreter's lock. If there are few inputs, calls `submit`
// on the calling thread: this is faster than compute() with a helper thread, but does not react to signals.
template <class Submit>
Request submit_without_lock(std::size_t inputs, const Submit& submit) {
  constexpr std::size_t kFew = 64;
  if (inputs > kFew) return compute(submit);
  const EngineCall call;
  return submit();
}

}  // namespace encdec::python
