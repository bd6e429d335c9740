#include "encdec/models/generation/processors/forced_eos.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/generation/processors/processed.h"

namespace encdec {
namespace {

using testing::ElementsAre;

TEST(ForcedEos, IsAllThatMayComeLast) {
  const ForcedEos rule({1, 3});
  const Tokens tokens{0, 0, 0, 0};
  const auto after = [&](std::size_t length) {
    return TokenHistory{.tokens = std::span(tokens).first(length), .prompt_length = 2, .new_token_limit = 2};
  };
  EXPECT_THAT(processed(rule, after(2), {1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(processed(rule, after(3), {1, 2, 3, 4}), ElementsAre(kBanned, 0, kBanned, 0)) << "any of the end tokens";
  EXPECT_THAT(processed(rule, after(4), {1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
  EXPECT_FALSE(rule.changes_scores(after(2)));
  EXPECT_TRUE(rule.changes_scores(after(3)));
}

}  // namespace
}  // namespace encdec
