#include "encdec/engine/base/cancellation.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "encdec/engine/thread_team.h"

namespace encdec {
namespace {

using Check = std::function<void()>;

TEST(Cancellation, WithoutAScopeNothingIsCancelled) {
  EXPECT_EQ(CancellationScope::check_of_this_thread(), nullptr);
  EXPECT_NO_THROW(check_cancelled());
}

TEST(Cancellation, TheInnermostScopeOfAThreadCounts) {
  int outer_calls = 0, inner_calls = 0;
  const Check outer = [&] { ++outer_calls; }, inner = [&] { ++inner_calls; };
  const CancellationScope scope(outer);
  {
    const CancellationScope nested(inner);
    check_cancelled();
    std::thread([] { EXPECT_EQ(CancellationScope::check_of_this_thread(), nullptr); }).join();
  }
  check_cancelled();
  EXPECT_EQ(outer_calls, 1);
  EXPECT_EQ(inner_calls, 1);
}

TEST(Cancellation, APollChecksOnceInThousandsOfCalls) {
  int calls = 0;
  const Check check = [&] { ++calls; };
  const CancellationScope scope(check);
  for (int i = 0; i < 100'000; ++i) poll_cancelled();
  EXPECT_GE(calls, 10);
  EXPECT_LE(calls, 1000);
}

TEST(Cancellation, IsCheckedBeforeEveryItemOfATeam) {
  for (const int size : {1, 3}) {
    ThreadTeam team(size);
    for (const int items : {1, 20}) {
      std::atomic<int> calls = 0, done = 0;
      const Check check = [&] {
        if (++calls > items / 2) throw std::runtime_error("enough");
      };
      const CancellationScope scope(check);
      EXPECT_THROW(team.run(items, [&](int, int) { ++done; }), std::runtime_error);
      EXPECT_LE(done, items / 2);
    }
    EXPECT_NO_THROW(team.run(20, [](int, int) { check_cancelled(); })) << "the scope is gone, for helpers too";
  }
}

}  // namespace
}  // namespace encdec
