#include "encdec/engine/thread_team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace encdec {
namespace {

TEST(ThreadTeam, RunsEveryItemOnceForThousandsOfLoops) {
  for (int size = 1; size <= 4; ++size) {
    ThreadTeam team(size);
    ASSERT_EQ(team.size(), size);
    std::vector<std::atomic<int>> counts(64);
    for (int loop = 0; loop < 3000; ++loop) {
      const int items = loop % 65;
      team.run(items, [&](int item, int thread) {
        ASSERT_TRUE(thread >= 0 && thread < size);
        counts[static_cast<std::size_t>(item)].fetch_add(1, std::memory_order_relaxed);
      });
      for (int item = 0; item < 64; ++item) {
        ASSERT_EQ(counts[static_cast<std::size_t>(item)].exchange(0), item < items ? 1 : 0)
            << "item " << item << " of " << items << ", loop " << loop << ", size " << size;
      }
    }
  }
}

TEST(ThreadTeam, AThreadNumberIsUsedByOneThreadAtATime) {
  ThreadTeam team(4);
  std::vector<std::atomic<int>> inside(4);
  for (int loop = 0; loop < 500; ++loop) {
    team.run(16, [&](int, int thread) {
      EXPECT_EQ(inside[static_cast<std::size_t>(thread)].fetch_add(1), 0);
      inside[static_cast<std::size_t>(thread)].fetch_sub(1);
    });
  }
}

TEST(ThreadTeam, AnExceptionReachesTheCallerAndTheOtherItemsStillRun) {
  for (int size = 1; size <= 4; ++size) {
    ThreadTeam team(size);
    for (int loop = 0; loop < 300; ++loop) {
      const int items = 1 + loop % 20, bad = loop % items;
      std::atomic<int> done = 0;
      try {
        team.run(items, [&](int item, int) {
          if (item == bad) throw std::runtime_error("item " + std::to_string(item));
          done.fetch_add(1);
        });
        FAIL() << "no exception";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), "item " + std::to_string(bad));
      }
      ASSERT_EQ(done.load(), items - 1) << "size " << size;
      team.run(items, [&](int, int) { done.fetch_sub(1); });  // the failed run has no effect on the next
      ASSERT_EQ(done.load(), -1);
    }
  }
}

TEST(ThreadTeam, IfAllItemsThrowTheCallerGetsOneException) {
  for (int size = 1; size <= 3; ++size) {
    ThreadTeam team(size);
    EXPECT_THROW(team.run(10, [](int item, int) { throw item; }), int);
  }
}

TEST(ThreadTeam, ItemsMayRunOtherTeams) {
  ThreadTeam outer(2);
  std::atomic<int> count = 0;
  for (int loop = 0; loop < 20; ++loop) {
    outer.run(4, [&](int, int) {
      ThreadTeam inner(2);
      for (int i = 0; i < 5; ++i) inner.run(6, [&](int, int) { count.fetch_add(1); });
    });
  }
  EXPECT_EQ(count.load(), 20 * 4 * 5 * 6);
}

TEST(ThreadTeam, TeamsOfSeveralThreadsDoNotInterfere) {
  std::vector<std::jthread> owners;
  for (int owner = 0; owner < 3; ++owner) {
    owners.emplace_back([owner] {
      ThreadTeam team(2);
      std::vector<int> values(10);  // not atomic: the loop's end must order the writes
      for (int loop = 1; loop <= 1000; ++loop) {
        team.run(10, [&](int item, int) { values[static_cast<std::size_t>(item)] += owner + 1; });
        for (const int value : values) ASSERT_EQ(value, loop * (owner + 1));
      }
    });
  }
}

TEST(ThreadTeam, SleepingHelpersWakeForTheNextLoop) {
  ThreadTeam team(3);
  std::atomic<int> count = 0;
  for (int loop = 0; loop < 30; ++loop) {
    team.run(5, [&](int, int) { count.fetch_add(1); });
    // Helpers sleep after a shorter time than this.
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(500);
    while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
  }
  EXPECT_EQ(count.load(), 150);
}

TEST(ThreadTeam, TeamsThatNeverRunAreDestroyedAtOnce) {
  for (int i = 0; i < 100; ++i) ThreadTeam team(1 + i % 4);
}

}  // namespace
}  // namespace encdec
