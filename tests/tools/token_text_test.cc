#include "tools/attention/token_text.h"

#include <gtest/gtest.h>

#include <numeric>

#include "attention_example.h"

namespace encdec::cli {
namespace {

std::string joined(const std::vector<Glyph>& glyphs, const char* separator = "") {
  std::string text;
  for (const Glyph& glyph : glyphs) text += (text.empty() ? "" : separator) + glyph.text;
  return text;
}

int columns(const std::vector<Glyph>& glyphs) {
  return std::accumulate(glyphs.begin(), glyphs.end(), 0, [](int sum, const Glyph& g) { return sum + g.columns; });
}

TEST(TokenText, OrdinaryTokensAreUnchanged) {
  for (const std::string token : {"▁Haus", "Ġthe", "</s>", "##ing", "今天", "שלום", "é", "e\u0301", "👩\u200D💻", ""}) {
    EXPECT_EQ(visible(token), token);
  }
}

TEST(TokenText, InvisibleCharactersAreWrittenOut) {
  EXPECT_EQ(visible("a b"), "a␣b");
  EXPECT_EQ(visible("\n\r\t"), "\\n\\r\\t");
  EXPECT_EQ(visible("\x1b[0m\x7f"), "\\x1b[0m\\x7f");
  EXPECT_EQ(visible(std::string(1, '\0')), "\\x00");
  EXPECT_EQ(visible("\u202Ex\u2028\u0085\uFEFF"), "\uFFFDx\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(visible("a\xff\xe2\x82z"), "a\uFFFD\uFFFDz");
  EXPECT_EQ(visible("\u0301"), "◌\u0301");
}

TEST(TokenText, SpacesOfATextStay) {
  EXPECT_EQ(visible("a b\n", " "), "a b\\n");
}

TEST(TokenText, MarkupIsEscaped) {
  EXPECT_EQ(escape_markup("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
}

TEST(TokenText, BeginningsHaveWholeClusters) {
  EXPECT_EQ(beginning_of("今天", 3).bytes, 3U);
  EXPECT_EQ(beginning_of("今天", 3).columns, 2);
  EXPECT_EQ(beginning_of("ae\u0301b", 2).bytes, 4U);
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abcde…");
  EXPECT_EQ(shortened("שלום", 3), "של…");
}

TEST(TokenText, LinesEndBetweenWords) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("one two three", 7, 9), (Lines{"one two ", "three"}));
  EXPECT_EQ(wrapped("one two three", 7, 1), (Lines{"one tw…"}));
  EXPECT_EQ(wrapped("今天天气", 5, 9), (Lines{"今天", "天气"}));
  EXPECT_EQ(wrapped("", 5, 9), Lines());
}

TEST(TokenText, GlyphsAreMeasuredInColumns) {
  EXPECT_EQ(columns(glyphs("Haus", 9)), 4);
  EXPECT_EQ(columns(glyphs("今天", 9)), 4);
  EXPECT_EQ(columns(glyphs("e\u0301", 9)), 1);
  EXPECT_EQ(columns(glyphs("\u1112\u1161\u11ab", 9)), 2);  // one syllable of Hangul as three letters
  EXPECT_EQ(columns(glyphs("", 9)), 0);
  EXPECT_EQ(joined(glyphs("👩\u200D💻\u2764\uFE0F👍🏽", 9), "|"), "👩|\u2764|👍");
  EXPECT_EQ(joined(glyphs("שם", 9), "|"), "ש\u200E|ם\u200E");
}

TEST(TokenText, LongTokensEndInAnEllipsis) {
  EXPECT_EQ(joined(glyphs("abcdef", 6)), "abcdef");
  EXPECT_EQ(joined(glyphs("abcdefg", 6)), "abcde…");
  EXPECT_EQ(joined(glyphs("今天天气", 6)), "今天…");
  EXPECT_EQ(joined(glyphs("abc", 1)), "…");
  EXPECT_EQ(joined(glyphs("今", 1)), "…");
  EXPECT_EQ(joined(glyphs_downwards("abcdef", 6)), "abcdef");
  EXPECT_EQ(joined(glyphs_downwards("abcdefg", 6)), "abcde…");
}

TEST(TokenText, HostileTokensStayInTheirColumns) {
  for (const std::string& token : hostile_tokens()) {
    EXPECT_LE(columns(glyphs(token, 12)), 12) << visible(token);
    EXPECT_LE(glyphs_downwards(token, 12).size(), 12U) << visible(token);
    for (const Glyph& glyph : glyphs_downwards(token, 12)) EXPECT_LE(glyph.columns, 2) << visible(token);
  }
}

TEST(TokenText, LongRunsOfMarksAreCut) {
  std::string marks = "a";
  for (int i = 0; i < 100000; ++i) marks += "\u0301";
  ASSERT_EQ(glyphs(marks, 12).size(), 1U);
  EXPECT_LE(glyphs(marks, 12)[0].text.size(), 20U);
}

}  // namespace
}  // namespace encdec::cli
