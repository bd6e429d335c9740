#include "encdec/engine/thread_team.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

constexpr std::uint64_t kItemsMask = 0xFFFFFFFFu;

// Time for which helpers spin before they sleep. It is longer than the gap between operations of a decoder step.
constexpr auto kSpinTime = std::chrono::microseconds(100);
constexpr int kSpinsPerClockRead = 64;

// Tells the CPU that this thread spins, so that the other thread of its core runs faster.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

std::thread start_thread(int number, int wanted, std::function<void()> work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& error) {
    throw ResourceError(
        fmt::format("thread {} of {} cannot be started: {}; ask for fewer, or raise the limit on processes or on "
                    "address space (ulimit -u, ulimit -v, pids.max of the control group)",
                    number, wanted, error.code().message()));
  }
}

ThreadTeam::ThreadTeam(int size) {
  try {
    helpers_.reserve(static_cast<std::size_t>(std::max(size, 1)) - 1);
    for (int thread = 1; thread < size; ++thread) {
      helpers_.push_back(start_thread(thread + 1, size, [this, thread] { help(thread); }));
    }
  } catch (...) {
    stop();
    throw;
  }
}

ThreadTeam::~ThreadTeam() {
  stop();
}

void ThreadTeam::stop() {
  stopping_.store(true);
  tickets_.fetch_add(kItemsMask + 1);  // starts a new generation without items; sleeping helpers wake
  tickets_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

bool ThreadTeam::work_on_one_item(int thread) {
  std::uint64_t tickets = tickets_.load(std::memory_order_acquire);
  while ((tickets & kItemsMask) != 0) {
    // Claim an item. The lower half of `tickets` is the index of this item plus 1.
    if (!tickets_.compare_exchange_weak(tickets, tickets - 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
      continue;
    }
    try {
      const CancellationScope scope(job_.check);
      check_cancelled();
      job_.call(job_.body, static_cast<int>((tickets & kItemsMask) - 1), thread);
    } catch (...) {
      const std::lock_guard lock(failure_mutex_);
      failure_ = std::current_exception();
    }
    unfinished_.fetch_sub(1, std::memory_order_release);
    return true;
  }
  return false;
}

void ThreadTeam::share(int items, Job job) {
  // Publish the items, work on them together with the helpers, then wait for the last items.
  job_ = job;  // no thread reads job_ now, because the previous job is done
  unfinished_.store(items, std::memory_order_relaxed);
  const std::uint64_t generation = (tickets_.load(std::memory_order_relaxed) | kItemsMask) + 1;
  tickets_.store(generation | static_cast<std::uint64_t>(items), std::memory_order_release);
  tickets_.notify_all();
  while (work_on_one_item(0)) {
  }
  for (int spins = 0; unfinished_.load(std::memory_order_acquire) != 0; ++spins) {
    // Yield now and then, because this loop may occupy the CPU that the thread with the last item needs.
    if (spins % 1024 == 1023) std::this_thread::yield();
    relax();
  }
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadTeam::help(int thread) {
  using Clock = std::chrono::steady_clock;
  auto idle_since = Clock::now();
  for (int spins = 0;; ++spins) {
    if (work_on_one_item(thread)) {
      idle_since = Clock::now();
      continue;
    }
    if (stopping_.load(std::memory_order_relaxed)) return;
    // Sleep until `tickets_` changes, unless items have arrived in the meantime.
    if (spins % kSpinsPerClockRead == 0 && Clock::now() - idle_since > kSpinTime) {
      const std::uint64_t seen = tickets_.load(std::memory_order_acquire);
      if ((seen & kItemsMask) == 0 && !stopping_.load()) tickets_.wait(seen, std::memory_order_acquire);
      idle_since = Clock::now();
      continue;
    }
    relax();
  }
}

}  // namespace encdec
