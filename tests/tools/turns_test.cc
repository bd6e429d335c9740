#include "server/turns.h"

#include <encdec/engine/base/cancellation.h>
#include <gtest/gtest.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <future>
#include <stdexcept>
#include <vector>

namespace encdec::serve {
namespace {

const auto kNoCheck = std::make_shared<const std::function<void()>>([] {});
const auto kSmall = std::make_shared<const std::atomic<bool>>(false);
const auto kLarge = std::make_shared<const std::atomic<bool>>(true);

Turns::Executor small(Turns& turns, std::uint64_t client) {
  return {turns, {.client = client, .is_large = kSmall, .check = kNoCheck}};
}
Turns::Executor large(Turns& turns, std::uint64_t client) {
  return {turns, {.client = client, .is_large = kLarge, .check = kNoCheck}};
}

TEST(Turns, LargeTasksLeaveAThreadForSmallTasksOfTheSameClient) {
  std::promise<void> may_end, is_small_done;
  std::promise<void> ended[3];
  std::atomic<int> large_running = 0, most = 0;
  Turns turns(2);
  const std::shared_future<void> end = may_end.get_future();
  for (std::promise<void>& done : ended) {
    large(turns, 1).execute([&] {
      most = std::max<int>(most, ++large_running);
      end.wait();
      --large_running;
      done.set_value();
    });
  }
  small(turns, 1).execute([&] { is_small_done.set_value(); });
  is_small_done.get_future().wait();
  may_end.set_value();
  for (std::promise<void>& done : ended) done.get_future().wait();
  EXPECT_EQ(most, 1);
}

TEST(Turns, ClientsTakeTurnsOfOneTaskEach) {
  std::promise<void> is_running, may_begin, done;
  std::vector<int> order;
  Turns turns(1);
  const std::shared_future<void> begin = may_begin.get_future();
  small(turns, 1).execute([&] {
    is_running.set_value();
    begin.wait();
  });
  is_running.get_future().wait();
  for (int i = 0; i < 3; ++i) small(turns, 1).execute([&] { order.push_back(1); });
  for (int i = 0; i < 2; ++i) small(turns, 2).execute([&] { order.push_back(2); });
  small(turns, 3).execute([&] { order.push_back(3); });
  small(turns, 1).execute([&] {
    order.push_back(4);
    done.set_value();
  });
  may_begin.set_value();
  done.get_future().wait();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 1, 2, 1, 4}));
}

TEST(Turns, TasksRunInTheCancellationScopeOfTheirRequest) {
  Turns turns(1);
  const auto check = std::make_shared<const std::function<void()>>([] { throw std::runtime_error("over"); });
  std::promise<bool> is_over;
  Turns::Executor(turns, {.client = 1, .is_large = kSmall, .check = check}).execute([&] {
    try {
      check_cancelled();
      is_over.set_value(false);
    } catch (const std::runtime_error&) {
      is_over.set_value(true);
    }
  });
  EXPECT_TRUE(is_over.get_future().get());
}

// Asio cancels a coroutine through its executor, and uses objects that may be gone if the cancellation waits for
// another turn.
TEST(Turns, DispatchWithinATaskOfAStrandRunsAtOnce) {
  Turns turns(1);
  const asio::any_io_executor strand = asio::make_strand(small(turns, 1));
  std::promise<bool> is_done_at_once;
  asio::post(strand, [&] {
    bool is_done = false;
    asio::dispatch(strand, [&] { is_done = true; });
    is_done_at_once.set_value(is_done);
  });
  EXPECT_TRUE(is_done_at_once.get_future().get());
}

TEST(Turns, WaitingTasksAreDroppedAtTheEnd) {
  const auto held = std::make_shared<int>(0);
  {
    std::promise<void> is_running, may_end;
    Turns turns(1);
    small(turns, 1).execute([&] {
      is_running.set_value();
      may_end.get_future().wait();
    });
    is_running.get_future().wait();
    for (int i = 0; i < 3; ++i) large(turns, 1).execute([held] {});
    may_end.set_value();
    turns.stop();
  }
  EXPECT_EQ(held.use_count(), 1);
}

// A strand that waits already is not added again, so what is destroyed posts to an idle one.
TEST(Turns, TasksMayAddOthersWhenTheyAreDestroyedAtTheEnd) {
  const auto held = std::make_shared<int>(0);
  {
    std::promise<void> is_running, may_end;
    Turns turns(1);
    asio::post(asio::make_strand(large(turns, 1)), [&] {
      is_running.set_value();
      may_end.get_future().wait();
    });
    is_running.get_future().wait();
    for (std::uint64_t client = 1; client <= 100; ++client) {
      const asio::any_io_executor idle = asio::make_strand(small(turns, client));
      const auto adds_another = [idle, held](int*) { asio::post(idle, [held] {}); };
      const std::shared_ptr<int> guard(nullptr, adds_another);
      asio::post(asio::make_strand(small(turns, client)), [guard] {});
    }
    may_end.set_value();
  }
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace encdec::serve
