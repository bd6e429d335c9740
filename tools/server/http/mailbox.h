#pragma once

#include <encdec/engine/base/mutex.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

namespace encdec::serve {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A queue. Any thread may add values; one coroutine removes values, and waits without blocking a thread.
template <class T>
class Mailbox : public std::enable_shared_from_this<Mailbox<T>> {
 public:
  // `executor` is the coroutine's executor. It must run one function at a time.
  explicit Mailbox(const asio::any_io_executor& executor) : news_(executor) {}

  void put(T value) {
    {
      const MutexLock lock(mutex_);
      values_.push_back(std::move(value));
    }
    // Post the wake-up, so that it runs after the coroutine's current step: a take() that found no value then waits.
    asio::post(news_.get_executor(), [self = this->shared_from_this()] { self->news_.cancel(); });
  }

  // Returns the oldest value, or nullopt if there is none by `until`. Throws operation_aborted if the coroutine is
  // cancelled.
  asio::awaitable<std::optional<T>> take(Clock::time_point until = Clock::time_point::max()) {
    for (;;) {
      if (std::optional<T> value = next()) co_return value;
      if (Clock::now() >= until) co_return std::nullopt;
      news_.expires_at(until);
      co_await news_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  }

 private:
  std::optional<T> next() {
    const MutexLock lock(mutex_);
    if (values_.empty()) return std::nullopt;
    std::optional<T> value = std::move(values_.front());
    values_.pop_front();
    return value;
  }

  asio::steady_timer news_;
  Mutex mutex_;
  std::deque<T> values_ ENCDEC_GUARDED_BY(mutex_);
};

}  // namespace encdec::serve
