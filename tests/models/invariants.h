#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "encdec/models/model/request_queue.h"
#include "tests/support/batch_dependence.h"
#include "tests/support/message_of.h"
#include "tests/support/random_tensors.h"

// The promises that every task of a model keeps (generate, embed, transcribe, ...), on a small checkpoint: a program of
// tests instantiates the suite Invariants with a row for each of its tasks.
namespace encdec::invariants {

// A counter of the calls that a worker makes to handlers and recordings. Call number `last` runs `act`.
class Steps {
 public:
  explicit Steps(std::size_t last = 0, std::function<void()> act = {}) : last_(last), act_(std::move(act)) {}

  void next() {
    if (++count_ == last_) act_();
  }
  std::size_t count() const { return count_; }

 private:
  std::size_t last_;
  std::function<void()> act_;
  std::size_t count_ = 0;
};

// What the handlers of one request were called with, and whether a call came after the request was cancelled.
struct Calls {
  std::string result;  // or the message of the failure
  bool is_failure = false;
  bool is_cancelled = false;
  bool is_called_too_late = false;
  std::promise<void> ended;

  void add(Steps& steps) {
    is_called_too_late |= is_cancelled;
    steps.next();
  }
  void end(Steps& steps, std::string with, bool failed = false) {
    result = std::move(with);
    is_failure = failed;
    add(steps);
    ended.set_value();
  }
  void fail(Steps& steps, const std::exception_ptr& failure) {
    end(steps, message_of([&] { std::rethrow_exception(failure); }), true);
  }
};

// A model that does a task.
struct Worker {
  Model model;
  // Submits the source with this number; the worker's calls are counted as steps. Null for a task without a queue.
  std::function<Request(RequestQueue& queue, std::size_t source, Steps& steps, Calls& calls)> submit;
  // The task without a queue: returns the results of these sources, in their order.
  std::function<std::vector<std::string>(std::span<const int> order, int batch_size)> compute = {};
};

struct Task {
  std::string name;
  std::size_t sources = 0;
  std::function<Worker(const LoadOptions& options)> load;
  // The same task with draft tokens, from any source.
  std::vector<std::function<Worker(const LoadOptions& options)>> drafted = {};
  // Part of the error for source number `sources`, which is too long; empty if no source of the task is.
  std::string too_long = {};
};

inline void PrintTo(const Task& task, std::ostream* stream) {
  *stream << task.name;
}

// Gives the sources in this order to the worker, or to a new queue. Returns the result of each source, by number.
inline std::vector<std::string> results(const Worker& worker, std::span<const int> order,
                                        const RequestQueueOptions& options) {
  if (worker.compute) {
    std::vector<std::string> computed = worker.compute(order, options.batch_size), by_number(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) by_number[static_cast<std::size_t>(order[i])] = computed[i];
    return by_number;
  }
  std::vector<Calls> calls(order.size());
  std::vector<Steps> steps(order.size());
  RequestQueue queue(worker.model, options);
  for (const int source : order) {
    const auto i = static_cast<std::size_t>(source);
    worker.submit(queue, i, steps[i], calls[i]);
  }
  std::vector<std::string> found;
  for (Calls& each : calls) {
    each.ended.get_future().wait();
    EXPECT_FALSE(each.is_failure) << each.result;
    found.push_back(std::move(each.result));
  }
  return found;
}

// Three requests that a worker takes together. The second is the victim.
class ThreeRequests {
 public:
  // Step number `last` cancels the victim or destroys the queue; 0: no step does.
  enum class End { cancel, stop };
  ThreeRequests(const Worker& worker, std::size_t last, End end)
      : steps_(last, [this, end] { end == End::cancel ? cancel() : stop(); }) {
    queue_.emplace(worker.model, RequestQueueOptions{.workers = 1});
    // Blocks the worker until all requests are submitted, so that it takes them together.
    Calls first;
    std::promise<void> is_held, may_go_on;
    Steps hold(1, [&] {
      is_held.set_value();
      may_go_on.get_future().wait();
    });
    const Request holder = worker.submit(*queue_, 0, hold, first);
    is_held.get_future().wait();
    for (std::size_t i = 0; i < 3; ++i) {
      Request request = worker.submit(*queue_, i, steps_, calls_[i]);
      if (i == 1) victim_ = std::move(request);
    }
    may_go_on.set_value();
    if (last != 0) has_acted_.get_future().wait();
    if (end == End::cancel) {
      first.ended.get_future().wait();
      calls_[0].ended.get_future().wait();
      calls_[2].ended.get_future().wait();
      if (last == 0) calls_[1].ended.get_future().wait();
    }
    if (stopper_.joinable()) stopper_.join();
    queue_.reset();
  }

  const Calls& calls(std::size_t request) const { return calls_[request]; }
  std::size_t steps() const { return steps_.count(); }

 private:
  void cancel() {
    victim_.cancel();
    calls_[1].is_cancelled = true;
    has_acted_.set_value();
  }
  void stop() {
    stopper_ = std::thread([this] { queue_.reset(); });
    has_acted_.set_value();
  }

  Calls calls_[3];
  Steps steps_;
  Request victim_;
  std::optional<RequestQueue> queue_;
  std::thread stopper_;
  std::promise<void> has_acted_;
};

class Invariants : public testing::TestWithParam<Task> {
 protected:
  void SetUp() override {
    worker_ = GetParam().load({.threads = 1});
    if (depends_on_batch(worker_->model)) GTEST_SKIP() << worker_->model.notes().precision;
  }

  std::vector<int> in_order(std::size_t count) const {
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  // Results of one source after the other, each alone.
  std::vector<std::string> alone(std::size_t count) const {
    return results(*worker_, in_order(count), {.workers = 1, .batch_size = 1});
  }

  std::optional<Worker> worker_;  // with one thread
};

TEST_P(Invariants, ASourceHasTheSameBytesAloneAndInAnyBatch) {
  const std::vector<std::string> expected = alone(GetParam().sources);
  RandomTensors random(13);
  for (const int threads : {1, 2}) {
    const Worker worker = threads == 1 ? *worker_ : GetParam().load({.threads = threads});
    for (const int workers : {1, 2}) {
      for (const int batch_size : {0, 7}) {
        EXPECT_EQ(results(worker, random.permutation(static_cast<int>(expected.size())),
                          {.workers = workers, .batch_size = batch_size}),
                  expected)
            << "threads " << threads << ", workers " << workers << ", batch size " << batch_size;
      }
    }
  }
}

TEST_P(Invariants, DraftTokensChangeNothing) {
  const std::size_t count = std::min<std::size_t>(GetParam().sources, 30);
  const std::vector<std::string> expected = alone(count);
  for (std::size_t i = 0; i < GetParam().drafted.size(); ++i) {
    const Worker worker = GetParam().drafted[i]({.threads = 2});
    for (const int batch_size : {1, 7}) {
      EXPECT_EQ(results(worker, in_order(count), {.workers = 1, .batch_size = batch_size}), expected)
          << "draft tokens " << i << ", batch size " << batch_size;
    }
  }
}

// A cancelled request's handlers are not called again, and the other requests keep their results.
TEST_P(Invariants, CancellingAtAnyStepChangesNoOther) {
  if (!worker_->submit) return;
  std::vector<Worker> workers{*worker_};
  if (!GetParam().drafted.empty()) workers.push_back(GetParam().drafted.back()({.threads = 1}));
  const std::vector<std::string> expected = alone(3);
  for (const Worker& worker : workers) {
    const std::size_t steps = ThreeRequests(worker, 0, ThreeRequests::End::cancel).steps();
    ASSERT_GE(steps, 3u);
    for (std::size_t step = 1; step <= steps; step += 1 + steps / 50) {
      const ThreeRequests requests(worker, step, ThreeRequests::End::cancel);
      EXPECT_FALSE(requests.calls(1).is_called_too_late) << "step " << step;
      EXPECT_EQ(requests.calls(0).result, expected[0]) << "step " << step;
      EXPECT_EQ(requests.calls(2).result, expected[2]) << "step " << step;
    }
  }
}

// The model can be used afterwards.
TEST_P(Invariants, AQueueCanBeDestroyedAtAnyStep) {
  if (!worker_->submit) return;
  const std::size_t steps = ThreeRequests(*worker_, 0, ThreeRequests::End::cancel).steps();
  const std::vector<std::string> expected = alone(3);
  for (std::size_t step = 1; step <= steps; step += 1 + steps / 50) {
    ThreeRequests(*worker_, step, ThreeRequests::End::stop);
  }
  EXPECT_EQ(alone(3), expected);
}

TEST_P(Invariants, ASourceThatIsTooLongIsRefusedAndNoOther) {
  if (GetParam().too_long.empty()) return;
  Calls good, bad;
  Steps steps, other_steps;
  RequestQueue queue(worker_->model);
  worker_->submit(queue, 0, steps, good);
  EXPECT_THAT(message_of([&] {
                worker_->submit(queue, GetParam().sources, other_steps, bad);
                bad.ended.get_future().wait();
                if (bad.is_failure) throw InputError(bad.result);
              }),
              testing::HasSubstr(GetParam().too_long));
  good.ended.get_future().wait();
  EXPECT_FALSE(good.is_failure) << good.result;
}

// A leak grows in each of the spans; buffers grow in few.
TEST_P(Invariants, MemoryStaysFlat) {
  const auto growth = [&] {
    const std::size_t before = ::mallinfo2().uordblks;
    for (int round = 0; round < 10; ++round) results(*worker_, in_order(3), {.workers = 1});
    return static_cast<std::ptrdiff_t>(::mallinfo2().uordblks - before);
  };
  std::vector<std::ptrdiff_t> spans;
  do {
    spans.push_back(growth());
  } while (spans.back() > 0 && spans.size() < 20);
  EXPECT_LE(spans.back(), 0) << testing::PrintToString(spans);
}

constexpr auto kName = [](const testing::TestParamInfo<Task>& row) { return row.param.name; };

}  // namespace encdec::invariants
