// Tests the limits of the endpoints that encoders add to `encdec serve`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/serve_process.h"

namespace encdec {
namespace {

TEST(ServeEncoders, TheSizeOfAnAnswerIsLimited) {
  const ServeProcess server(Limits{{"response_bytes=100000"}});
  const nlohmann::json letters = {{"inputs", std::string(5000, 'a')}};
  EXPECT_THAT(
      server.post("/tokenize", letters.dump()),
      testing::AllOf(testing::StartsWith("HTTP/1.1 413"), testing::HasSubstr("a response of more than 100000 bytes")));
}

}  // namespace
}  // namespace encdec
