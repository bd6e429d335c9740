#include "encdec/models/generation/processors/min_new_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/generation/processors/processed.h"

namespace encdec {
namespace {

using testing::ElementsAre;

TEST(MinNewTokens, DoesNotCountThePrompt) {
  const MinNewTokens rule(2, {1});
  const Tokens tokens{0, 0, 0, 0, 0};
  const auto after = [&](std::size_t length) {
    return processed(rule, {.tokens = std::span(tokens).first(length), .prompt_length = 3}, {1, 2});
  };
  EXPECT_THAT(after(3), ElementsAre(1, kBanned));
  EXPECT_THAT(after(4), ElementsAre(1, kBanned));
  EXPECT_THAT(after(5), ElementsAre(1, 2));
}

}  // namespace
}  // namespace encdec
