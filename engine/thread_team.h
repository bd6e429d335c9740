#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "encdec/engine/base/cancellation.h"

namespace encdec {

// Starts a thread that runs `work`. `number` and `wanted` are for the error: "thread 3 of 8".
// Throws ResourceError, with the limits to check, if the operating system refuses.
std::thread start_thread(int number, int wanted, std::function<void()> work);

// A fixed team of threads: the calling thread and `size - 1` helpers. They share the items of one
// loop.
//
// A free thread claims the next item. If the operating system suspends a thread, the others
// therefore do its share, and the caller waits only for items that have been started. Helpers spin
// briefly between loops, then sleep.
//
// Only the thread that owns the team may call run(), for one loop at a time.
class ThreadTeam {
 public:
  // Starts `size - 1` helpers. Throws ResourceError if a helper cannot be started.
  explicit ThreadTeam(int size = 1);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(helpers_.size()) + 1; }  // including the caller

  // Calls body(item, thread) for each item in [0, items), with `thread` in [0, size()), and waits
  // for them. Each item begins with check_cancelled() in the caller's CancellationScope.
  // If an item throws, the others still run; then run() rethrows one of the exceptions.
  // REQUIRES: the result of an item does not depend on the thread.
  template <class Body>
  void run(int items, const Body& body) {
    if (items <= 0) return;
    check_cancelled();
    if (items == 1) return static_cast<void>(body(0, 0));
    if (helpers_.empty()) {
      std::exception_ptr failure;
      for (int item = 0; item < items; ++item) {
        try {
          check_cancelled();
          body(item, 0);
        } catch (...) {
          failure = std::current_exception();
        }
      }
      if (failure != nullptr) std::rethrow_exception(failure);
      return;
    }
    const auto call = [](const void* context, int item, int thread) {
      (*static_cast<const Body*>(context))(item, thread);
    };
    share(items, {&body, call, CancellationScope::check_of_this_thread()});
  }

 private:
  struct Job {
    const void* body = nullptr;
    void (*call)(const void* body, int item, int thread) = nullptr;
    const std::function<void()>* check = nullptr;
  };

  void share(int items, Job job);
  void stop();
  bool work_on_one_item(int thread);
  void help(int thread);

  // Upper 32 bits: generation of the job. Lower 32 bits: number of unclaimed items. A claim is one
  // compare-exchange, so a late thread cannot claim an item of a job that it has not seen.
  std::atomic<std::uint64_t> tickets_{0};
  std::atomic<int> unfinished_{0};
  std::atomic<bool> stopping_{false};
  Job job_;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  std::vector<std::thread> helpers_;
};

}  // namespace encdec
