// Tests speculative decoding: draft tokens and their acceptance.
#include "encdec/models/generation/draft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PlaceAfterMatch, IsThatOfTheLongestMatchAndOfEqualOnesTheNearest) {
  const TokenIds text{1, 2, 3, 9, 2, 3, 8, 3};
  EXPECT_EQ(position_after_match(text, TokenIds{1, 2, 3}, 8), 3u);
  EXPECT_EQ(position_after_match(text, TokenIds{7, 2, 3}, 8), 6u);
  EXPECT_EQ(position_after_match(text, TokenIds{7, 2, 3}, 0), 3u);
  EXPECT_EQ(position_after_match(text, TokenIds{3}, 8), 8u);
  EXPECT_EQ(position_after_match(text, TokenIds{1, 7}, 8), 0u) << "the last token does not occur";
  EXPECT_EQ(position_after_match({}, TokenIds{1}, 0), 0u);
}

TEST(LookupDraft, IsWhatFollowedTheLastTokensBefore) {
  const auto draft = [](TokenIds text, std::size_t most) {
    const auto found = lookup_draft(text, most);
    return TokenIds(found.begin(), found.end());
  };
  EXPECT_THAT(draft({1, 2, 3, 4, 1, 2}, 2), ElementsAre(3, 4));
  EXPECT_THAT(draft({1, 2, 1, 2}, 5), ElementsAre(1, 2));
  EXPECT_THAT(draft({1, 2, 1, 2}, 0), IsEmpty());
  EXPECT_THAT(draft({1, 2, 3}, 5), IsEmpty());
  EXPECT_THAT(draft({}, 5), IsEmpty());
}

class Following : public testing::Test {
 protected:
  // Returns the draft after more tokens of the result.
  std::vector<std::int32_t> after(std::initializer_list<std::int32_t> more, std::size_t most = 2) {
    result_.insert(result_.end(), more);
    const auto draft = text_.draft(result_, most);
    return {draft.begin(), draft.end()};
  }

  RepeatedText text_{TokenIds{1, 2, 3, 4, 5, 6, 7, 8}};
  TokenIds result_;
};

TEST_F(Following, DraftsWhatComesNextInTheText) {
  EXPECT_THAT(after({}), ElementsAre(1, 2));
  EXPECT_THAT(after({1, 2, 3}, 3), ElementsAre(4, 5, 6));
  EXPECT_THAT(after({4, 5, 6, 7}), ElementsAre(8));
  EXPECT_THAT(after({8}), IsEmpty());
  EXPECT_THAT(after({9, 9}), IsEmpty());
}

TEST_F(Following, GoesOnAfterAReplacedTokenAnInsertionAndAnOmission) {
  EXPECT_THAT(after({1, 99}), ElementsAre(3, 4)) << "99 replaces 2";
  EXPECT_THAT(after({3, 98, 97}), ElementsAre(6, 7)) << "two replace two, as far as anyone can know";
  EXPECT_THAT(after({4}), ElementsAre(5, 6)) << "they were inserted";
  EXPECT_THAT(after({7}), ElementsAre(8)) << "5 and 6 are left out";
}

TEST(DraftLength, FollowsWhatWasRight) {
  DraftLength length;
  EXPECT_EQ(length.next(), 5u);
  length.record(5, 5);
  EXPECT_EQ(length.next(), 10u);
  length.record(10, 3);
  EXPECT_EQ(length.next(), 4u);
  length.record(2, 2);  // the text had no more
  EXPECT_EQ(length.next(), 4u);
  for (int i = 0; i < 9; ++i) length.record(length.next(), length.next());
  EXPECT_EQ(length.next(), 32u) << "at most";
}

TEST(DraftLength, PausesLongerAndLongerWhileNothingIsRight) {
  DraftLength length;
  std::vector<int> steps;  // between draft tokens
  for (int step = 0, last = 0; step < 300; ++step) {
    const std::size_t count = length.next();
    if (count == 0) continue;
    EXPECT_TRUE(step == 0 || count == 1) << "after a rejected draft";
    length.record(count, 0);
    steps.push_back(step - last);
    last = step;
  }
  EXPECT_THAT(steps, ElementsAre(0, 1, 1, 2, 3, 5, 9, 17, 33, 65, 65, 65));
}

TEST(DraftLength, StaysAsItIsIfFixed) {
  DraftLength length(7);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(length.next(), 7u);
    length.record(7, 0);
  }
}

}  // namespace
}  // namespace encdec
