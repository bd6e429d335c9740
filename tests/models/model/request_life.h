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

// Requests that are cancelled, or whose queue ends, at each step of their life.
namespace encdec::request_life {

inline constexpr std::size_t kNever = 0;

// Counts the calls that a worker makes to handlers and recordings, and acts at one of them.
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

// The calls of one request's handlers, in one line, and whether any came after it was cancelled.
struct Told {
  std::string text;
  bool is_cancelled = false;
  bool is_told_too_late = false;
  std::promise<void> ended;

  void add(Steps& steps, const std::string& more, bool is_end = false) {
    is_told_too_late |= is_cancelled;
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

// A kind of request, and how one is submitted whose handlers and recording count as steps.
struct Kind {
  const char* name;
  Model model;
  std::function<Request(RequestQueue& queue, Steps& steps, Told& told)> submit;
};

// Three requests of a kind that a worker takes together; the one in the middle is the victim.
class Company {
 public:
  // At step number `last` the victim is cancelled, or the queue ends.
  enum class End { cancel, stop };
  Company(const Kind& kind, std::size_t last, End end)
      : steps_(last, [this, end] { end == End::cancel ? cancel() : stop(); }) {
    queue_.emplace(kind.model, RequestQueueOptions{.workers = 1});
    // Holds the worker until all are there: it takes them in one turn then.
    Told first;
    std::promise<void> is_held, may_go_on;
    Steps hold(1, [&] {
      is_held.set_value();
      may_go_on.get_future().wait();
    });
    const Request holder = kind.submit(*queue_, hold, first);
    is_held.get_future().wait();
    for (Told& told : told_) {
      Request request = kind.submit(*queue_, steps_, told);
      if (&told == &told_[1]) victim_ = std::move(request);
    }
    may_go_on.set_value();
    if (last != kNever) has_acted_.get_future().wait();
    if (end == End::cancel) {
      first.ended.get_future().wait();
      told_[0].ended.get_future().wait();
      told_[2].ended.get_future().wait();
      if (last == kNever) told_[1].ended.get_future().wait();
    }
    if (stopper_.joinable()) stopper_.join();
    queue_.reset();
  }

  const Told& told(std::size_t request) const { return told_[request]; }
  std::size_t steps() const { return steps_.count(); }

 private:
  void cancel() {
    victim_.cancel();
    told_[1].is_cancelled = true;
    has_acted_.set_value();
  }
  void stop() {
    stopper_ = std::thread([this] { queue_.reset(); });
    has_acted_.set_value();
  }

  Told told_[3];
  Steps steps_;
  Request victim_;
  std::optional<RequestQueue> queue_;
  std::thread stopper_;
  std::promise<void> has_acted_;
};

// A cancelled request's handlers are not called again, and the results of the requests beside it do not change.
inline void check_cancelling(const Kind& kind) {
  const Company whole(kind, kNever, Company::End::cancel);
  ASSERT_GT(whole.steps(), 5u) << kind.name;
  for (std::size_t step = 1; step <= whole.steps(); ++step) {
    const Company company(kind, step, Company::End::cancel);
    EXPECT_FALSE(company.told(1).is_told_too_late) << kind.name << ", step " << step;
    EXPECT_EQ(company.told(0).text, whole.told(0).text) << kind.name << ", step " << step;
    EXPECT_EQ(company.told(2).text, whole.told(2).text) << kind.name << ", step " << step;
  }
}

// The queue can be destroyed at any step.
inline void check_stopping(const Kind& kind) {
  const std::size_t steps = Company(kind, kNever, Company::End::cancel).steps();
  for (std::size_t step = 1; step <= steps; ++step) Company(kind, step, Company::End::stop);
}

}  // namespace encdec::request_life
