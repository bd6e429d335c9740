#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "compute.h"
#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/error.h"
#include "encdec/engine/thread_team.h"

namespace encdec::python {

// Work in a thread of its own, which never takes the interpreter's lock. Python calls wait() in a loop: it gets news
// about its inputs, and calls add() or finish() after Event::room.
template <class Input, class News>
class Job {
  class State;

 public:
  // The interface to the job for the work's thread.
  class Desk {
   public:
    enum class Wait : std::uint8_t { no, yes };

    // Returns the next input, or nullopt at the end of the inputs. With Wait::no, returns nullopt too if no input has
    // been added. Throws, to stop the work, if the job is closed.
    std::optional<Input> take(Wait wait) { return state_.take(wait); }
    // Adds news for Python.
    void put(News news) { state_.put(std::move(news)); }

   private:
    friend class State;
    explicit Desk(State& state) : state_(state) {}
    State& state_;
  };
  // A function that does the work. It returns at the end of the inputs.
  using Work = std::function<void(Desk& desk)>;
  // A function that returns whether another input may be added. `waiting` are inputs that the work has not taken.
  // `unanswered` is the number of inputs for which Python has got no news.
  using HasRoom = std::function<bool(const std::deque<Input>& waiting, std::size_t unanswered)>;

  // `name` is the name of the Python function, for messages.
  Job(std::string name, HasRoom has_room, Work work)
      : state_(std::make_unique<State>(std::move(name), std::move(has_room), std::move(work))) {}
  ~Job() { close(); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  enum class Event : std::uint8_t {
    news,  // there is news
    room,  // another input may be added
    end,   // the work has ended, and all news was returned
  };
  // Waits for the next event. Runs Python's signal handlers meanwhile. Throws the exception with which the work has
  // ended.
  std::pair<Event, std::optional<News>> wait() {
    if (state_ == nullptr) return {Event::end, std::nullopt};
    return state_->wait();
  }
  void add(Input input) {
    if (state_ != nullptr) state_->add(std::move(input));
  }
  // Ends the inputs.
  void finish() {
    if (state_ != nullptr) state_->finish();
  }
  // Stops the work, and waits for its thread. Does nothing in a forked process, which has no such thread.
  void close() {
    if (state_ == nullptr) return;
    if (!state_->is_ours()) return static_cast<void>(state_.release());
    const nanobind::gil_scoped_release release;
    state_ = nullptr;
  }

 private:
  std::unique_ptr<State> state_;  // null if the job is closed
};

template <class Input, class News>
class Job<Input, News>::State {
 public:
  State(std::string name, HasRoom has_room, Work work)
      : name_(std::move(name)), has_room_(std::move(has_room)), work_(std::move(work)) {
    thread_ = start_thread(1, 1, [this] { run(); });
  }
  ~State() {
    {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  bool is_ours() const { return process_ == ::getpid(); }

  std::pair<Event, std::optional<News>> wait() {
    if (!is_ours()) throw Error(fmt::format("{}: its work runs in the process that this one was forked from", name_));
    std::unique_lock lock(mutex_);
    wait_without_lock(lock, changed_, [this] { return !news_.empty() || has_ended_ || has_room(); });
    if (!news_.empty()) {
      std::pair<Event, std::optional<News>> event(Event::news, std::move(news_.front()));
      news_.pop_front();
      if (unanswered_ > 0) --unanswered_;
      return event;
    }
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    return {has_ended_ ? Event::end : Event::room, std::nullopt};
  }
  void add(Input input) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(input));
    ++unanswered_;
    changed_.notify_all();
  }
  void finish() {
    const std::lock_guard lock(mutex_);
    is_finished_ = true;
    changed_.notify_all();
  }

  std::optional<Input> take(typename Desk::Wait wait) {
    std::unique_lock lock(mutex_);
    if (wait == Desk::Wait::yes) {
      changed_.wait(lock, [this] { return !waiting_.empty() || is_finished_ || is_stopped_; });
      if (is_stopped_) throw Stopped();
    }
    if (waiting_.empty()) return std::nullopt;
    std::optional input(std::move(waiting_.front()));
    waiting_.pop_front();
    changed_.notify_all();
    return input;
  }
  void put(News news) {
    const std::lock_guard lock(mutex_);
    news_.push_back(std::move(news));
    changed_.notify_all();
  }

 private:
  struct Stopped : std::exception {};

  bool has_room() const { return !is_finished_ && has_room_(waiting_, unanswered_); }

  void run() {
    std::exception_ptr failure;
    const std::function<void()> check = [this] {
      if (is_stopped_) throw Stopped();
    };
    const CancellationScope scope(check);
    try {
      Desk desk(*this);
      work_(desk);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    failure_ = failure;
    has_ended_ = true;
    changed_.notify_all();
  }

  const ::pid_t process_ = ::getpid();
  const std::string name_;
  const HasRoom has_room_;
  const Work work_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Input> waiting_;
  std::deque<News> news_;
  std::size_t unanswered_ = 0;  // number of inputs for which wait() has returned no news
  bool is_finished_ = false;
  bool has_ended_ = false;
  std::atomic<bool> is_stopped_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace encdec::python
