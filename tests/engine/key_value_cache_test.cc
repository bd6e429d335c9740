#include "encdec/engine/key_value_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

// Compares with a model in which each position of a sequence has a number, and each row of the cache holds the number
// that was written there last. A position before the window of its sequence has no row.
void compare_rows(int window) {
  struct Target {
    int group;
    std::vector<int> positions;
  };
  RandomTensors random(1);
  CacheRows index(window);
  std::map<int, Target> targets;  // by slot
  std::vector<int> cache;
  int written = 0;
  for (int step = 0; step < 5000; ++step) {
    const int action = targets.empty() ? 0 : random.below(12);
    if (action == 0) {
      if (targets.size() > 20) continue;
      ASSERT_TRUE(targets.emplace(index.open(), Target{step, {}}).second) << "an open slot was given out again";
      continue;
    }
    const auto chosen = std::next(targets.begin(), random.below(static_cast<int>(targets.size())));
    auto& [slot, target] = *chosen;
    const auto is_shared = [&] {
      return std::ranges::any_of(targets, [&](const auto& other) {
        return other.first != slot && std::ranges::count(other.second.positions, target.positions.back()) > 0;
      });
    };
    if (action == 1) {
      index.close(slot);
      index.close(slot);  // has no effect
      targets.erase(chosen);
    } else if (action == 2 && targets.size() < 20) {
      ASSERT_TRUE(targets.emplace(index.fork(slot), target).second);
    } else if (action == 3) {
      std::vector<int> slots, parents;
      for (const auto& [other, its] : targets) {
        if (its.group == target.group) slots.push_back(other);
      }
      for (std::size_t i = 0; i < slots.size(); ++i) {
        parents.push_back(slots[static_cast<std::size_t>(random.below(static_cast<int>(slots.size())))]);
      }
      index.reorder(slots, parents);
      const std::map<int, Target> before = targets;
      for (std::size_t i = 0; i < slots.size(); ++i) targets.at(slots[i]) = before.at(parents[i]);
    } else if (action == 4) {
      while (!target.positions.empty() && random.below(4) > 0 && !is_shared()) target.positions.pop_back();
      index.shorten(slot, static_cast<int>(target.positions.size()));
    } else {
      const int count = random.below(random.below(20) + 1);
      index.append(slot, count);
      cache.resize(static_cast<std::size_t>(index.row_limit()));
      for (const std::int32_t row : index.rows(slot).last(static_cast<std::size_t>(count))) {
        target.positions.push_back(cache.at(static_cast<std::size_t>(row)) = ++written);
      }
    }
    for (const auto& [open, its] : targets) {
      std::vector<int> found;
      for (const std::int32_t row : index.rows(open)) found.push_back(cache.at(static_cast<std::size_t>(row)));
      ASSERT_EQ(found.size(), its.positions.size());
      const std::size_t seen = std::min(found.size(), static_cast<std::size_t>(window));
      ASSERT_TRUE(std::equal(found.end() - static_cast<std::ptrdiff_t>(seen), found.end(),
                             its.positions.end() - static_cast<std::ptrdiff_t>(seen)))
          << "step " << step << ", action " << action;
    }
  }
}

TEST(CacheRows, APositionHasItsRowUntilAllItsSequencesAreClosed) {
  compare_rows(CacheRows::kAll);
}

TEST(CacheRows, APositionWithinTheWindowHasItsRow) {
  for (const int window : {1, 5, 40}) compare_rows(window);
}

TEST(CacheRows, RowsOutsideOfTheWindowAreUsedAgain) {
  constexpr int kWindow = 20;
  CacheRows index(kWindow);
  const int first = index.open();
  index.append(first, 300);  // as a prompt
  const int second = index.fork(first);
  for (int i = 0; i < 3000; ++i) {
    index.append(first, 1);
    index.append(second, 1);
    const int slots[] = {first, second}, parents[] = {second, second};
    index.reorder(slots, parents);
  }
  EXPECT_EQ(index.length(first), 3300);
  EXPECT_LE(index.row_limit(), 300 + 2 * (CacheRows::kMostDropped + kWindow + CacheRows::kPageRows));
}

TEST(CacheRows, PagesOfClosedSlotsAreReused) {
  CacheRows index(CacheRows::kAll);
  for (int repetition = 0; repetition < 100; ++repetition) {
    for (int sequence = 0; sequence < 4; ++sequence) {
      const int slot = index.open();
      EXPECT_EQ(index.length(slot), 0);
      index.append(slot, 30);
      index.append(index.fork(slot), 10);
    }
    ASSERT_EQ(index.row_limit(), 4 * 48);  // 40 positions need 3 pages of 16
    if (repetition % 2 == 0) {
      index.close_all();
    } else {
      for (int slot = 0; slot < 8; ++slot) index.close(slot);
    }
  }
}

TEST(CacheRows, PositionsOfAPageAreContiguous) {
  CacheRows index(CacheRows::kAll);
  const int first = index.open(), second = index.open();
  for (int i = 0; i < 2 * CacheRows::kPageRows; ++i) {
    index.append(first, 1);
    index.append(second, 1);
  }
  for (const int slot : {first, second}) {
    for (int i = 0; i < index.length(slot); ++i) {
      const auto rows = index.rows(slot);
      const int page_start = i / CacheRows::kPageRows * CacheRows::kPageRows;
      EXPECT_EQ(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(page_start)] + i - page_start);
    }
  }
}

TEST(KeyValueCache, GrowingKeepsTheContents) {
  const KeyValueLayout form{.heads = 3, .head_dim = 5};
  KeyValueCache cache;
  std::int64_t filled = 0;
  const auto row_of = [&](std::int64_t row, float sign) {
    std::vector<float> values;
    for (Dim i = 0; i < form.width(); ++i) values.push_back(sign * static_cast<float>(row * 100 + i));
    return values;
  };
  for (const std::int64_t count : {1, 16, 17, 17, 64, 1000}) {
    cache.reserve(count, form);
    ASSERT_GE(cache.rows(), count);
    for (; filled < count; ++filled) cache.write(filled, row_of(filled, 1).data(), row_of(filled, -1).data());
    for (std::int64_t row = 0; row < filled; ++row) {
      const auto number = static_cast<std::int32_t>(row);
      for (int head = 0; head < form.heads; ++head) {
        const float* key = cache.keys(&number).of_head(head).row<float>(0);
        const float* value = cache.values(&number).of_head(head).row<float>(0);
        for (Dim i = 0; i < form.head_dim; ++i) {
          const auto at = static_cast<std::size_t>(head * form.head_dim + i);
          ASSERT_EQ(key[i], row_of(row, 1)[at]) << row << " " << head;
          ASSERT_EQ(value[i], row_of(row, -1)[at]) << row << " " << head;
        }
      }
    }
  }
}

TEST(KeyValueCache, RoundsToTheNearestBfloat16) {
  const KeyValueLayout form{.heads = 2, .head_dim = 3, .type = key_value_type(Precision::bfloat16)};
  EXPECT_EQ(form.bytes(), 2u * 6 * 2);
  KeyValueCache cache;
  cache.reserve(2, form);
  const std::vector<float> exact = {1.0f, -2.5f, 0.0f, 3.140625f, 1e30f, -7.0f};
  cache.write(1, exact.data(), exact.data());
  const std::int32_t number = 1;
  for (int head = 0; head < 2; ++head) {
    const std::uint16_t* bits = cache.values(&number).of_head(head).row<std::uint16_t>(0);
    for (Dim i = 0; i < 3; ++i) {
      EXPECT_NEAR(bfloat16_to_float(bits[i]), exact[static_cast<std::size_t>(head * 3 + i)],
                  std::abs(exact[static_cast<std::size_t>(head * 3 + i)]) / 256);
    }
  }
}

TEST(KeyValueCache, GrowsByDoublingAndNeverShrinks) {
  const KeyValueLayout form{.heads = 1, .head_dim = 2};
  KeyValueCache cache;
  cache.reserve(100, form);
  const void* keys = cache.keys(nullptr).data;
  cache.reserve(3, form);
  cache.reserve(100, form);
  EXPECT_EQ(cache.keys(nullptr).data, keys);
  cache.reserve(cache.rows() + 1, form);
  EXPECT_GE(cache.rows(), 200);
}

}  // namespace
}  // namespace encdec
