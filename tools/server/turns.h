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

// Threads that run the handlers' tasks: parsing requests and writing answers. Clients take turns, one task each. Tasks
// of large requests leave one thread free for tasks of small requests.
class Turns {
 public:
  // The request to which a task belongs.
  struct Owner {
    std::uint64_t client = 0;
    std::shared_ptr<const std::atomic<bool>> is_large = {};   // its tasks are large now
    std::shared_ptr<const std::function<void()>> check = {};  // called at each cancellation check of its tasks
  };

  explicit Turns(std::size_t threads) : pool_(threads), threads_(threads) {}
  ~Turns();
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // Starts no more tasks, and waits for the running ones. Tasks that are added later are destroyed.
  void stop();

  // An executor, in Asio's sense, for the tasks of one request. Use it through a strand. execute() returns before the
  // task runs. Nevertheless the blocking property is `possibly`, so that a strand may run a task at once: Asio cancels
  // a coroutine through state that would be destroyed before a later run.
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
  using Lane = std::list<Client>;  // the client with the next turn first

  void add(const Owner& owner, std::unique_ptr<Task> task);
  void run_next();

  // First, because destroying it or a waiting task destroys others, which may add() more.
  std::atomic<bool> has_stopped_ = false;
  asio::thread_pool pool_;
  std::size_t threads_;
  Mutex mutex_;
  Lane small_ ENCDEC_GUARDED_BY(mutex_);
  Lane large_ ENCDEC_GUARDED_BY(mutex_);
  std::size_t large_running_ ENCDEC_GUARDED_BY(mutex_) = 0;
};

}  // namespace encdec::serve
