#include "encdec/models/tokenizer/pipeline/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/cancellation.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> matches(const Pattern& pattern, std::string_view text) {
  std::vector<std::string> found;
  pattern(text,
          [&](const PatternMatch& match) { found.emplace_back(text.substr(match.begin, match.end - match.begin)); });
  return found;
}

std::vector<std::string> matches(const std::string& expression, std::string_view text) {
  return matches(regex_pattern(expression, "file"), text);
}

TEST(Regex, FindsAllMatches) {
  EXPECT_THAT(matches(R"(\p{N}{1,3})", "12345x6"), ElementsAre("123", "45", "6"));
  EXPECT_THAT(matches("^.$", "a\nb\nc"), ElementsAre("a", "b", "c"));
}

TEST(Regex, NoEmptyMatchFollowsAnotherMatch) {
  EXPECT_THAT(matches("a*", "baaé"), ElementsAre("", "aa", ""));
  EXPECT_THAT(matches("", "é"), ElementsAre("", ""));
  EXPECT_THAT(matches("a*", ""), ElementsAre(""));
}

TEST(Regex, ClassesMatchOniguruma) {
  EXPECT_THAT(matches(R"(\w+)", "a\u0301b ²c"), ElementsAre("a\u0301b", "²c"));
  EXPECT_THAT(matches(R"([^\w]+)", "a\u0301b -"), ElementsAre(" -"));
  EXPECT_THAT(matches(R"(\s)", "\u180E\u0085"), ElementsAre("\u0085"));
  EXPECT_THAT(matches(R"(\h+)", "xF0 "), ElementsAre("F0"));
  EXPECT_THAT(matches(R"(\bb)", "ab b a\u0301b"), ElementsAre("b"));
  EXPECT_THAT(matches(R"(\v)", "\n\v"), ElementsAre("\v"));
  EXPECT_THAT(matches(R"((?m).+)", "a\nb"), ElementsAre("a\nb"));
  EXPECT_THAT(matches(R"([[:space:]x]+)", "a x\t"), ElementsAre(" x\t"));
  EXPECT_THAT(matches(R"(\p{Han}+)", "中、文"), ElementsAre("中", "文"));
  EXPECT_THAT(matches(R"(\u4E2D|a{)", "中a{"), ElementsAre("中", "a{"));
}

TEST(Regex, RefusesSyntaxThatOnigurumaReadsDifferently) {
  for (const char* expression : {"[a&&b]", "[a[b]]", "a{,3}", "a{1,3}+", "a{2}?", "a(?i)b", "(?x: a)", R"(\k<a>)",
                                 R"(\R)", "(*FAIL)", "(?<name>a)", "[a", R"(\x80)", R"(\p{L)", "(?", R"(\)"}) {
    EXPECT_THAT(
        refusal_of<TokenizerError>("file: x: the regular expression", [&] { regex_pattern(expression, "file: x"); }),
        HasSubstr("not supported"));
  }
}

TEST(Regex, RefusesInvalidExpressions) {
  for (const char* expression : {"(a", "a)", "*", R"(\p{sc:Nothing})", "[z-a]", R"((?<=a*)b)"}) {
    EXPECT_THROW(regex_pattern(expression, "file"), TokenizerError) << expression;
  }
  EXPECT_THROW(regex_pattern(std::string(20'000, 'a'), "file"), TokenizerError);
}

TEST(Regex, ExponentialMatchingEndsWithAnErrorAndLongMatchesDoNot) {
  const std::string word(1'000'000, 'x');
  EXPECT_THAT(matches(R"(\p{L}+)", word), ElementsAre(word));
  EXPECT_THAT(message_of<TokenizerError>([] { matches("(a+)+b", std::string(100, 'a') + "cb"); }),
              HasSubstr("file: the regular expression failed at byte 0 of a text of 102"));
}

// From each position the match runs to the end of the text and back. The limits of PCRE2 count from each position anew.
TEST(Regex, QuadraticMatchingEndsWithAnError) {
  for (const char* expression : {"a+b", "a+?b", "(?=a*b)a", R"(a[a\s]*b)", "(a|c)*?b"}) {
    EXPECT_THROW(matches(expression, std::string(1'000'000, 'a') + "-b"), TokenizerError) << expression;
  }
}

TEST(Regex, AMatchCanBeCancelled) {
  const std::function<void()> check = [] { throw InputError("enough"); };
  const CancellationScope scope(check);
  EXPECT_THROW(matches("(a|b)+c", std::string(100'000, 'a') + "-c"), InputError);
}

TEST(Pattern, LiteralsStandForThemselves) {
  EXPECT_THAT(matches(literal_pattern("a.b"), "a.baxba.ba.b"), ElementsAre("a.b", "a.b", "a.b"));
  EXPECT_THAT(matches(literal_pattern("aa"), "aaaaa"), ElementsAre("aa", "aa"));
  EXPECT_THAT(matches(literal_pattern(""), "é中"), ElementsAre("", "", ""));
}

}  // namespace
}  // namespace encdec
