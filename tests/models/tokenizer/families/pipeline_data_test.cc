#include "encdec/models/tokenizer/families/pipeline_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(MergesTxt, IsPairsInTheOrderOfLines) {
  EXPECT_THAT(native_files::parse_merges("#version: 0.2\na b\n\n# #\nab c", "x"),
              ElementsAre(Pair("a", "b"), Pair("#", "#"), Pair("ab", "c")));
  EXPECT_THAT(native_files::parse_merges("a b\r\nc d\r\n", "x"), ElementsAre(Pair("a", "b"), Pair("c", "d")));
  EXPECT_THAT(native_files::parse_merges("", "x"), ElementsAre());
}

TEST(MergesTxt, RefusesOtherLinesByNumber) {
  for (const char* text : {"a b\nab", "a b\na b c", "a b\n\xFF b", "a b\n \t "}) {
    const std::string error = message_of<TokenizerError>([&] { native_files::parse_merges(text, "merges.txt"); });
    EXPECT_THAT(error, HasSubstr("merges.txt: ")) << text;
    EXPECT_TRUE(error.find("line 2") != error.npos || error.find("UTF-8") != error.npos) << error;
  }
  EXPECT_THAT(message_of<TokenizerError>([] { native_files::parse_merges(std::string(5000, 'a'), "m"); }),
              HasSubstr("line 1: 5000 bytes"));
}

TEST(PipelineData, KeepsTheFirstDescriptionOfAToken) {
  PipelineData source{.name = "x"};
  source.settings.named_tokens["mask_token"] = "<mask>";
  source.settings.described_tokens["<mask>"] = {.content = "<mask>", .strip_right = true};
  source.describe("mask_token", {.strip_left = true});
  EXPECT_FALSE(source.settings.described_tokens["<mask>"].strip_left);
  source.add_special({{.content = "a"}, {.content = "a"}, {.content = "b"}});
  EXPECT_THAT(source.settings.special_tokens, ElementsAre("a", "b"));
}

}  // namespace
}  // namespace encdec
