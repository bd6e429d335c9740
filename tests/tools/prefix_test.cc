// Tests encdec generate --prefix-file, which sets how each result begins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/files.h"
#include "tests/tools/generate_command.h"

namespace encdec {
namespace {

using testing::HasSubstr;

std::string first_words(const std::string& line, int count) {
  std::size_t end = 0;
  for (int i = 0; i < count && end != std::string::npos; ++i) end = line.find(' ', end + 1);
  return line.substr(0, end);
}

TEST(Prefix, ResultsBeginWithTheirLine) {
  const TemporaryFolder folder;
  const auto sources = split_lines(golden_sources("shared_swish"));
  std::vector<std::string> prefixes;
  for (std::size_t i = 0; i < sources.size(); ++i) prefixes.push_back(first_words("7 9 11", static_cast<int>(i % 4)));
  prefixes[3] = "";
  const Finished finished =
      run_generate("shared_swish", {"--token-ids", "--prefix-file", folder.write("prefix", join_lines(prefixes))},
                   join_lines(sources));
  ASSERT_EQ(finished.status, 0) << finished.errors;
  const auto lines = split_lines(finished.output);
  const auto free = split_lines(golden_outputs("shared_swish"));
  ASSERT_EQ(lines.size(), sources.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_TRUE((lines[i] + " ").starts_with(prefixes[i])) << lines[i];
    if (prefixes[i].empty()) {
      EXPECT_EQ(lines[i], free[i]);
    }
  }
}

// A prefix that greedy search generates anyway changes nothing.
TEST(Prefix, APrefixOfTheResultGivesTheResult) {
  const TemporaryFolder folder;
  std::vector<std::string> prefixes;
  for (const std::string& line : split_lines(golden_outputs("text"))) prefixes.push_back(first_words(line, 1));
  const Finished finished = run_generate(
      "text", {"--token-ids", "--prefix-file", folder.write("prefix", join_lines(prefixes))}, golden_sources("text"));
  EXPECT_EQ(finished.output, golden_outputs("text"));
}

TEST(Prefix, MayBeText) {
  const TemporaryFolder folder;
  const Finished finished =
      run_generate("text", {"--prefix-file", folder.write("prefix", "the cat\n\nthe\n")}, "a\nHello\n\n");
  ASSERT_EQ(finished.status, 0) << finished.errors;
  const auto lines = split_lines(finished.output);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].starts_with("the cat")) << lines[0];
  EXPECT_EQ(lines[1] + "\n", run_generate("text", {}, "Hello\n").output);
  EXPECT_EQ(lines[2], "");  // nothing to generate from
}

TEST(Prefix, TheFileMustHaveAsManyLinesAsTheInput) {
  const TemporaryFolder folder;
  const std::string a = run_generate("text", {}, "a\n").output;
  for (const auto& [prefixes, input, shorter, longer] :
       {std::tuple{"\n", "a\na\n", folder.path("prefix") + ": 1 lines", "standard input"},
        std::tuple{"\nx\n", "a\n", std::string("standard input: 1 lines"), "prefix"},
        std::tuple{"", "a\n", folder.path("prefix") + ": 0 lines", "standard input"}}) {
    const Finished finished = run_generate("text", {"--prefix-file", folder.write("prefix", prefixes)}, input);
    EXPECT_TRUE(
        failed({finished.status, "", finished.errors}, 1, {shorter, longer, "has more; expected the same number"}));
    EXPECT_EQ(finished.output, *prefixes != 0 ? a : "");
  }
}

TEST(Prefix, ABadLineIsNamed) {
  const TemporaryFolder folder;
  EXPECT_TRUE(failed(run_generate("text", {"--token-ids", "--prefix-file", folder.write("prefix", "1 x\n")}, "5 0\n"),
                     1, {folder.path("prefix") + ":1: token 2 is 'x'"}));
  EXPECT_TRUE(failed(run_generate("text", {"--prefix-file", folder.write("prefix", "a\xff\n")}, "a\n"), 1,
                     {folder.path("prefix") + ":1: byte 2 is 0xff"}));
  EXPECT_TRUE(failed(run_generate("text", {"--prefix-file", folder.path("none")}, "a\n"), 1,
                     {folder.path("none"), "No such file"}));
}

}  // namespace
}  // namespace encdec
