#include "encdec/engine/key_value_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

TEST(CacheIndex, RowsAreUniqueAmongOpenSlots) {
  RandomTensors random(1);
  CacheIndex index;
  std::map<int, int> lengths;  // of the open slots
  for (int step = 0; step < 3000; ++step) {
    const int action = random.below(10);
    if (action == 0 && lengths.size() < 20) {
      ASSERT_TRUE(lengths.emplace(index.open(), 0).second) << "an open slot was given out again";
    } else if (action == 1 && !lengths.empty()) {
      const auto chosen = std::next(lengths.begin(), random.below(static_cast<int>(lengths.size())));
      index.close(chosen->first);
      lengths.erase(chosen);
    } else if (!lengths.empty()) {
      const auto chosen = std::next(lengths.begin(), random.below(static_cast<int>(lengths.size())));
      const int count = random.below(random.below(20) + 1);
      const std::vector<std::int32_t> before(index.rows(chosen->first).begin(), index.rows(chosen->first).end());
      index.append(chosen->first, count);
      chosen->second += count;
      const auto after = index.rows(chosen->first);
      ASSERT_TRUE(std::equal(before.begin(), before.end(), after.begin())) << "an earlier position has moved";
    }
    std::set<std::int32_t> rows;
    std::size_t total = 0;
    for (const auto& [slot, length] : lengths) {
      ASSERT_EQ(index.length(slot), length);
      rows.insert(index.rows(slot).begin(), index.rows(slot).end());
      total += static_cast<std::size_t>(length);
    }
    ASSERT_EQ(rows.size(), total);
    if (!rows.empty()) {
      ASSERT_GE(*rows.begin(), 0);
      ASSERT_LT(*rows.rbegin(), index.row_limit());
    }
  }
}

TEST(CacheIndex, PagesOfClosedSlotsAreUsedAgain) {
  CacheIndex index;
  std::int64_t limit = 0;
  for (int repetition = 0; repetition < 100; ++repetition) {
    for (int sequence = 0; sequence < 4; ++sequence) {
      const int slot = index.open();
      EXPECT_EQ(index.length(slot), 0);
      index.append(slot, 40);
    }
    if (repetition == 0) limit = index.row_limit();
    ASSERT_EQ(index.row_limit(), limit);
    index.close_all();
  }
  EXPECT_EQ(limit, 4 * 48);  // 40 positions lie on 3 pages of 16
}

TEST(CacheIndex, PositionsOfAPageLieTogether) {
  CacheIndex index;
  const int first = index.open(), second = index.open();
  for (int i = 0; i < 2 * CacheIndex::kPageRows; ++i) {
    index.append(first, 1);
    index.append(second, 1);
  }
  for (const int slot : {first, second}) {
    for (int i = 0; i < index.length(slot); ++i) {
      const auto rows = index.rows(slot);
      const int page_start = i / CacheIndex::kPageRows * CacheIndex::kPageRows;
      EXPECT_EQ(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(page_start)] + i - page_start);
    }
  }
}

TEST(CacheIndex, ClosingTwiceGivesPagesBackOnce) {
  CacheIndex index;
  const int slot = index.open();
  index.append(slot, 5);
  index.close(slot);
  index.close(slot);
  const int a = index.open(), b = index.open();
  EXPECT_NE(a, b);
  index.append(a, 1);
  index.append(b, 1);
  EXPECT_NE(index.rows(a)[0], index.rows(b)[0]);
}

TEST(CacheIndex, ForkedSequencesShareTheirPastAndNothingElse) {
  CacheIndex index;
  const int first = index.open();
  index.append(first, 20);
  const int second = index.fork(first);
  index.append(first, 1);
  index.append(second, 2);
  ASSERT_EQ(index.length(first), 21);
  ASSERT_EQ(index.length(second), 22);
  EXPECT_TRUE(std::equal(index.rows(first).begin(), index.rows(first).begin() + 20, index.rows(second).begin()));
  const std::set<std::int32_t> own = {index.rows(first)[20], index.rows(second)[20], index.rows(second)[21]};
  EXPECT_EQ(own.size(), 3u);
  for (const std::int32_t row : index.rows(first).first(20)) EXPECT_FALSE(own.contains(row));
}

TEST(CacheIndex, ReorderGivesEachSlotThePositionsOfItsParent) {
  CacheIndex index;
  std::vector<int> slots = {index.open()};
  index.append(slots[0], 3);
  for (int i = 1; i < 4; ++i) slots.push_back(index.fork(slots[0]));
  for (const int slot : slots) index.append(slot, 1);
  std::vector<std::vector<std::int32_t>> before;
  for (const int slot : slots) before.emplace_back(index.rows(slot).begin(), index.rows(slot).end());
  const std::vector<std::size_t> order = {1, 0, 1, 3};  // a swap, a copy, one that stays
  std::vector<int> parents;
  for (const std::size_t parent : order) parents.push_back(slots[parent]);
  index.reorder(slots, parents);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(index.rows(slots[i]), before[order[i]])) << i;
  }
}

TEST(CacheIndex, RowsOfAFamilyAreFreeWhenItsLastSequenceEnds) {
  CacheIndex index;
  const int first = index.open();
  index.append(first, 16);
  const int second = index.fork(first);
  index.close(first);
  const int other = index.open();
  index.append(other, 16);
  for (const std::int32_t row : index.rows(other)) EXPECT_GE(row, 16) << "a row of a sequence that goes on";
  index.close(second);
  const int third = index.open();
  index.append(third, 16);
  EXPECT_EQ(index.row_limit(), 32);
}

TEST(KeyValueCache, GrowthKeepsTheContents) {
  constexpr Dim kWidth = 5;
  KeyValueCache cache;
  std::int64_t filled = 0;
  for (const std::int64_t count : {1, 16, 17, 17, 64, 1000}) {
    cache.reserve(count, kWidth);
    ASSERT_GE(cache.keys.rows(), count);
    ASSERT_EQ(cache.keys.shape(), cache.values.shape());
    for (; filled < count; ++filled) {
      std::fill_n(cache.keys.row(filled), kWidth, static_cast<float>(filled));
      std::fill_n(cache.values.row(filled), kWidth, static_cast<float>(-filled));
    }
    for (std::int64_t row = 0; row < filled; ++row) {
      for (Dim i = 0; i < kWidth; ++i) {
        ASSERT_EQ(cache.keys.row(row)[i], static_cast<float>(row));
        ASSERT_EQ(cache.values.row(row)[i], static_cast<float>(-row));
      }
    }
  }
}

TEST(KeyValueCache, GrowsByDoublingAndNeverShrinks) {
  KeyValueCache cache;
  cache.reserve(100, 2);
  const float* keys = cache.keys.data<float>();
  cache.reserve(3, 2);
  cache.reserve(100, 2);
  EXPECT_EQ(cache.keys.data<float>(), keys);
  cache.reserve(101, 2);
  EXPECT_EQ(cache.keys.rows(), 200);
}

}  // namespace
}  // namespace encdec
