#include <gtest/gtest.h>

#include <optional>

#include "server/http/message.h"
#include "server/load.h"

namespace encdec::serve {
namespace {

constexpr std::size_t kMegabyte = 1 << 20;

bool takes(UnreadResponses::Part& part, std::size_t bytes) {
  try {
    part.add(bytes);
    return true;
  } catch (const HttpError& error) {
    EXPECT_EQ(error.status(), 503);
    return false;
  }
}

TEST(UnreadResponses, AClientHasAShareAndASingleAnswerAlwaysFits) {
  UnreadResponses responses(4 * kMegabyte);
  std::optional<UnreadResponses::Part> first(std::in_place, responses, 1);
  UnreadResponses::Part second(responses, 1), other(responses, 2), small(responses, 1);
  EXPECT_TRUE(takes(*first, 2 * kMegabyte));
  EXPECT_TRUE(takes(second, kMegabyte));
  EXPECT_FALSE(takes(second, kMegabyte / 2));  // its share is three megabytes
  EXPECT_TRUE(takes(other, kMegabyte));
  EXPECT_FALSE(takes(other, 1));
  EXPECT_TRUE(takes(small, UnreadResponses::kSmall));
  EXPECT_FALSE(takes(small, 1));
  first.reset();
  EXPECT_TRUE(takes(second, kMegabyte / 2));
  UnreadResponses empty(kMegabyte);
  UnreadResponses::Part alone(empty, 1);
  EXPECT_TRUE(takes(alone, 5 * kMegabyte));
  EXPECT_TRUE(takes(alone, kMegabyte));
}

}  // namespace
}  // namespace encdec::serve
