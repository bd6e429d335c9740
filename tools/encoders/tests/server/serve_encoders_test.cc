// Tests the addresses for embeddings and scores of encdec serve with a model that gives neither.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/serve_process.h"

namespace encdec {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ServeEncoders, BadRequestsAreRefusedInTheFormOfTheProtocol) {
  const ServeProcess server;
  EXPECT_THAT(server.post("/v1/embeddings", R"({"input":"x"})"),
              AllOf(StartsWith("HTTP/1.1 404"), HasSubstr("no model here embeds")));
  EXPECT_THAT(server.post("/embed", "{"), AllOf(StartsWith("HTTP/1.1 422"), HasSubstr(R"("error_type":"Validation")")));
}

TEST(ServeEncoders, TheSizeOfAnAnswerIsLimited) {
  const ServeProcess server(Limits{{"answer_bytes=100000"}});
  const nlohmann::json letters = {{"inputs", std::string(5000, 'a')}};
  EXPECT_THAT(server.post("/tokenize", letters.dump()),
              AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("an answer of more than 100000 bytes")));
}

}  // namespace
}  // namespace encdec
