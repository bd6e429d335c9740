#include <gtest/gtest.h>

#include <vector>

#include "encdec/models/generation/logits_processor.h"
#include "encdec/speech/transcription/window_attempt.h"
#include "tools/speech/tests/transcription/tiny_en.h"

namespace encdec {
namespace {

using namespace tiny_en;

class TimestampRulesTest : public testing::Test {
 protected:
  // Returns the logits after the rules have been applied. `sampled` is what was generated before.
  std::vector<float> after(const std::vector<std::int32_t>& sampled, std::optional<double> max_initial = 1.0) {
    logits_.assign(kVocabulary, 0.0F);
    // Text and end are likelier than all times together.
    logits_[kText] = logits_[kEnd] = 20.0F;
    apply_timestamp_rules(tokens(), max_initial, sampled, logits_);
    return logits_;
  }
  static bool is_banned(const std::vector<float>& logits, std::int32_t token) {
    return logits[static_cast<std::size_t>(token)] == kBanned;
  }

  std::vector<float> logits_;
};

TEST_F(TimestampRulesTest, TheFirstTokenIsAnEarlyTime) {
  const auto logits = after({});
  EXPECT_TRUE(is_banned(logits, kText));
  EXPECT_TRUE(is_banned(logits, kEnd));
  EXPECT_FALSE(is_banned(logits, kTimes));
  EXPECT_FALSE(is_banned(logits, kTimes + 50));
  EXPECT_TRUE(is_banned(logits, kTimes + 51));
  EXPECT_FALSE(is_banned(after({}, std::nullopt), kVocabulary - 1));
}

TEST_F(TimestampRulesTest, AfterTheFirstTimeComesText) {
  const auto logits = after({kTimes + 3});
  EXPECT_FALSE(is_banned(logits, kText));
  EXPECT_FALSE(is_banned(logits, kEnd));
  for (std::int32_t token = kTimes; token < kVocabulary; ++token) ASSERT_TRUE(is_banned(logits, token)) << token;
}

TEST_F(TimestampRulesTest, TextIsFollowedByTextOrALaterTime) {
  const auto logits = after({kTimes + 3, kText});
  EXPECT_FALSE(is_banned(logits, kText));
  EXPECT_TRUE(is_banned(logits, kTimes + 3)) << "a piece without length";
  EXPECT_FALSE(is_banned(logits, kTimes + 4));
}

TEST_F(TimestampRulesTest, AnEndTimeIsFollowedByAStartTimeOrTheEnd) {
  const auto logits = after({kTimes + 3, kText, kTimes + 9});
  EXPECT_TRUE(is_banned(logits, kText));
  EXPECT_FALSE(is_banned(logits, kEnd));
  EXPECT_TRUE(is_banned(logits, kTimes + 8));
  EXPECT_FALSE(is_banned(logits, kTimes + 9)) << "the next piece may begin here";
  // After the start time comes text.
  const auto begun = after({kTimes + 3, kText, kTimes + 9, kTimes + 9});
  EXPECT_FALSE(is_banned(begun, kText));
  EXPECT_TRUE(is_banned(begun, kTimes + 20));
}

TEST_F(TimestampRulesTest, TimesAreForcedIfTheyAreLikelierTogether) {
  logits_.assign(kVocabulary, 0.0F);
  logits_[kText] = 3.0F;  // likelier than any single time, but less likely than 1,500 times together
  apply_timestamp_rules(tokens(), 1.0, std::vector<std::int32_t>{kTimes, kText}, logits_);
  EXPECT_TRUE(is_banned(logits_, kText));
  EXPECT_TRUE(is_banned(logits_, kEnd));
  EXPECT_FALSE(is_banned(logits_, kTimes + 1));
}

TEST_F(TimestampRulesTest, NoTimestampsIsAlwaysBanned) {
  for (const std::vector<std::int32_t>& sampled :
       std::vector<std::vector<std::int32_t>>{{}, {kTimes}, {kTimes, kText}}) {
    EXPECT_TRUE(is_banned(after(sampled), tokens().no_timestamps));
  }
}

}  // namespace
}  // namespace encdec
