#pragma once

#include <encdec/engine/base/mutex.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/execution.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <utility>

namespace encdec::serve {

namespace asio = boost::asio;

// Threads that run the handlers' tasks, which parse requests and write responses. Clients take turns, one task a turn.
// Tasks of large requests leave one thread free for small requests.
class Turns {
 public:
  // The request to which a task belongs.
  struct Owner {
    std::uint64_t client = 0;
    std::shared_ptr<const std::atomic<bool>> is_large = {};   // read when a task is added
    std::shared_ptr<const std::function<void()>> check = {};  // called at each cancellation check of a task
  };

  explicit Turns(std::size_t threads) : pool_(threads), threads_(threads) {}
  ~Turns();
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // Waits for the running tasks and starts no others. Tasks that are added later are discarded.
  void stop();

  // An Asio executor for the tasks of one request. Use it through a strand. execute() returns before the task runs.
  // The blocking property is nevertheless `possibly`, which lets a strand run a task at once: Asio cancels a
  // coroutine through state that is destroyed before any later run.
  class Executor {
    using Blocking = asio::execution::blocking_t;

   public:
    Executor(Turns& turns, Owner owner) : turns_(&turns), owner_(std::move(owner)) {}

    asio::execution_context& query(asio::execution::context_t /*property*/) const noexcept { return turns_->pool_; }
    Blocking query(Blocking /*property*/) const noexcept { return blocking_; }
    Executor require(Blocking::never_t property) const { return with(property); }
    Executor require(Blocking::possibly_t property) const { return with(property); }
    template <class Function>
    void execute(Function function) const {
      turns_->add(owner_, std::make_unique<TaskOf<Function>>(std::move(function)));
    }
    friend bool operator==(const Executor& a, const Executor& b) noexcept {
      return a.turns_ == b.turns_ && a.owner_.check == b.owner_.check && a.blocking_ == b.blocking_;
    }

   private:
    Executor with(Blocking blocking) const {
      Executor other = *this;
      other.blocking_ = blocking;
      return other;
    }

    Turns* turns_;
    Owner owner_;
    Blocking blocking_ = Blocking::possibly;
  };

 private:
  struct Task {
    virtual ~Task() = default;
    virtual void run() = 0;
  };
  template <class Function>
  struct TaskOf final : Task {
    explicit TaskOf(Function function_) : function(std::move(function_)) {}
    void run() override { function(); }
    Function function;
  };
  struct Waiting {
    std::shared_ptr<const std::function<void()>> check;
    std::unique_ptr<Task> task;
  };
  struct Client {
    std::uint64_t number = 0;
    std::deque<Waiting> tasks = {};  // never empty
  };
  using Lane = std::list<Client>;  // in the order of their turns

  void add(const Owner& owner, std::unique_ptr<Task> task);
  void run_next();

  // Declared first: destroying the pool or a task may destroy other handlers, which then call add().
  std::atomic<bool> has_stopped_ = false;
  asio::thread_pool pool_;
  std::size_t threads_;
  Mutex mutex_;
  Lane small_ ENCDEC_GUARDED_BY(mutex_);
  Lane large_ ENCDEC_GUARDED_BY(mutex_);
  std::size_t large_running_ ENCDEC_GUARDED_BY(mutex_) = 0;
};

}  // namespace encdec::serve
