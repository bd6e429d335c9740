#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "encdec/models/model/request_queue.h"

// Tests requests that are cancelled, and queues that are destroyed, at each step of a request.
namespace encdec::request_life {

inline constexpr std::size_t kNever = 0;

// A counter of the calls that a worker makes to handlers and recordings. Call number `last` runs `act`.
class Steps {
 public:
  Steps(std::size_t last, std::function<void()> act) : last_(last), act_(std::move(act)) {}

  void next() {
    if (++count_ == last_) act_();
  }
  std::size_t count() const { return count_; }

 private:
  std::size_t last_;
  std::function<void()> act_;
  std::size_t count_ = 0;
};

// The calls to one request's handlers as text, and whether a call came after the request was cancelled.
struct Calls {
  std::string text;
  bool is_cancelled = false;
  bool is_called_too_late = false;
  std::promise<void> ended;

  void add(Steps& steps, const std::string& more, bool is_end = false) {
    is_called_too_late |= is_cancelled;
    text += more;
    steps.next();
    if (is_end) ended.set_value();
  }
};

inline std::string ids(std::span<const std::int32_t> tokens) {
  std::string text;
  for (const std::int32_t token : tokens) text += std::to_string(token) + " ";
  return text;
}

// A kind of request. `submit` submits a request of this kind; `steps` counts the calls to its handlers and recording.
struct Kind {
  const char* name;
  Model model;
  std::function<Request(RequestQueue& queue, Steps& steps, Calls& calls)> submit;
};

// Three requests of a kind that a worker takes together. The second is the victim.
class ThreeRequests {
 public:
  // Step number `last` cancels the victim or destroys the queue.
  enum class End { cancel, stop };
  ThreeRequests(const Kind& kind, std::size_t last, End end)
      : steps_(last, [this, end] { end == End::cancel ? cancel() : stop(); }) {
    queue_.emplace(kind.model, RequestQueueOptions{.workers = 1});
    // Blocks the worker until all requests are submitted, so that it takes them together.
    Calls first;
    std::promise<void> is_held, may_go_on;
    Steps hold(1, [&] {
      is_held.set_value();
      may_go_on.get_future().wait();
    });
    const Request holder = kind.submit(*queue_, hold, first);
    is_held.get_future().wait();
    for (Calls& calls : calls_) {
      Request request = kind.submit(*queue_, steps_, calls);
      if (&calls == &calls_[1]) victim_ = std::move(request);
    }
    may_go_on.set_value();
    if (last != kNever) has_acted_.get_future().wait();
    if (end == End::cancel) {
      first.ended.get_future().wait();
      calls_[0].ended.get_future().wait();
      calls_[2].ended.get_future().wait();
      if (last == kNever) calls_[1].ended.get_future().wait();
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

// Expects that a cancelled request's handlers are not called again, and that the other requests keep their results.
inline void check_cancelling(const Kind& kind) {
  const ThreeRequests whole(kind, kNever, ThreeRequests::End::cancel);
  ASSERT_GT(whole.steps(), 5u) << kind.name;
  for (std::size_t step = 1; step <= whole.steps(); ++step) {
    const ThreeRequests requests(kind, step, ThreeRequests::End::cancel);
    EXPECT_FALSE(requests.calls(1).is_called_too_late) << kind.name << ", step " << step;
    EXPECT_EQ(requests.calls(0).text, whole.calls(0).text) << kind.name << ", step " << step;
    EXPECT_EQ(requests.calls(2).text, whole.calls(2).text) << kind.name << ", step " << step;
  }
}

// Expects that the queue can be destroyed at any step.
inline void check_stopping(const Kind& kind) {
  const std::size_t steps = ThreeRequests(kind, kNever, ThreeRequests::End::cancel).steps();
  for (std::size_t step = 1; step <= steps; ++step) ThreeRequests(kind, step, ThreeRequests::End::stop);
}

}  // namespace encdec::request_life
