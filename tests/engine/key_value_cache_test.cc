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
  std::map<int, int> lengths;  // length of each open slot
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

TEST(CacheIndex, PagesOfClosedSlotsAreReused) {
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
  EXPECT_EQ(limit, 4 * 48);  // 40 positions need 3 pages of 16
}

TEST(CacheIndex, PositionsOfAPageAreContiguous) {
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

TEST(CacheIndex, ClosingTwiceFreesPagesOnce) {
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
  const std::vector<std::size_t> order = {1, 0, 1, 3};  // two slots swap parents, one gets a copy, one keeps its own
  std::vector<int> parents;
  for (const std::size_t parent : order) parents.push_back(slots[parent]);
  index.reorder(slots, parents);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(index.rows(slots[i]), before[order[i]])) << i;
  }
}

TEST(CacheIndex, RowsOfAFamilyAreFreedWithItsLastSequence) {
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

TEST(KeyValueCache, GrowingKeepsTheContents) {
  const KeyValueForm form{.heads = 3, .head_dim = 5};
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
      const auto place = static_cast<std::int32_t>(row);
      for (int head = 0; head < form.heads; ++head) {
        const float* key = cache.keys(&place).of_head(head).row<float>(0);
        const float* value = cache.values(&place).of_head(head).row<float>(0);
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
  const KeyValueForm form{.heads = 2, .head_dim = 3, .type = key_value_type(Precision::bfloat16)};
  EXPECT_EQ(form.bytes(), 2u * 6 * 2);
  KeyValueCache cache;
  cache.reserve(2, form);
  const std::vector<float> exact = {1.0f, -2.5f, 0.0f, 3.140625f, 1e30f, -7.0f};
  cache.write(1, exact.data(), exact.data());
  const std::int32_t place = 1;
  for (int head = 0; head < 2; ++head) {
    const std::uint16_t* bits = cache.values(&place).of_head(head).row<std::uint16_t>(0);
    for (Dim i = 0; i < 3; ++i) {
      EXPECT_NEAR(bfloat16_to_float(bits[i]), exact[static_cast<std::size_t>(head * 3 + i)],
                  std::abs(exact[static_cast<std::size_t>(head * 3 + i)]) / 256);
    }
  }
}

TEST(KeyValueCache, GrowsByDoublingAndNeverShrinks) {
  const KeyValueForm form{.heads = 1, .head_dim = 2};
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
