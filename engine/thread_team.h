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

// Starts thread `number` of `wanted`. Throws ResourceError, with the limits to look at, if the system starts no more.
std::thread start_thread(int number, int wanted, std::function<void()> work);

// A fixed team of threads that shares out the items of one loop at a time: the caller and `size - 1` helpers.
//
// Every item is claimed by whoever is free, so a helper that the system has descheduled holds nobody up: the others do
// its part, and the caller waits only for items that are being worked on. Which thread runs an item never changes
// its result. Helpers spin briefly between loops, then sleep.
//
// One loop at a time: `run` is for the thread that owns the team.
class ThreadTeam {
 public:
  // Starts so many threads, the caller's among them. Throws ResourceError if they cannot be started.
  explicit ThreadTeam(int size = 1);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(helpers_.size()) + 1; }  // the caller and its helpers

  // Calls body(item, thread) for every item of [0, items), with thread in [0, size()), and returns when all are done.
  // Rethrows one of the exceptions that items have thrown; the other items are still worked on. All begin with
  // check_cancelled(), in the caller's scope.
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

  // Generation of the job in the upper half, items not yet claimed in the lower: a claim is one compare-exchange, and
  // a latecomer can never take an item of a job that it has not seen.
  std::atomic<std::uint64_t> tickets_{0};
  std::atomic<int> unfinished_{0};
  std::atomic<bool> stopping_{false};
  Job job_;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  std::vector<std::thread> helpers_;
};

}  // namespace encdec
