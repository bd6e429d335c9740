#include "encdec/models/tokenizer/pipeline/characters.h"

#include <gtest/gtest.h>

#include <string>

namespace encdec {
namespace {

TEST(Characters, RoundTrip) {
  for (const char32_t c : {U'\0', U'a', U'\x7F', U'\x80', U'\x7FF', U'\x800', U'\xFFFF', U'\x10000', U'\x10FFFF'}) {
    std::string text;
    append_utf8(text, c);
    EXPECT_EQ(first_character(text).value, c);
    EXPECT_EQ(first_character(text).bytes, text.size());
    EXPECT_EQ(last_character("ab" + text), 2u);
  }
}

// As in Rust's String::from_utf8_lossy and Python's errors="replace".
TEST(Characters, EachInvalidSequenceIsReplaced) {
  const std::pair<const char*, const char*> kCases[] = {{"", ""},
                                                        {"aé中😀", "aé中😀"},
                                                        {"\x80", "\uFFFD"},
                                                        {"a\xC3", "a\uFFFD"},
                                                        {"\xC0\xAF", "\uFFFD\uFFFD"},
                                                        {"\xE4\xB8z", "\uFFFDz"},
                                                        {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},
                                                        {"\xF0\x9F\x98", "\uFFFD"},
                                                        {"\xF0\x9F\x98\xC3\xA9", "\uFFFDé"},
                                                        {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
                                                        {"\xE0\x80\x80", "\uFFFD\uFFFD\uFFFD"}};
  for (const auto& [bytes, text] : kCases) EXPECT_EQ(replace_invalid_utf8(bytes), text);
}

TEST(Characters, ClassesMatchTheReference) {
  EXPECT_TRUE(is_white_space(0x85));
  EXPECT_FALSE(is_white_space(0x200B));
  EXPECT_FALSE(is_white_space(0x1C));
  EXPECT_TRUE(is_word_character(U'_'));
  EXPECT_TRUE(is_word_character(0x200D));
  EXPECT_TRUE(is_word_character(0x24B6));
  EXPECT_FALSE(is_word_character(0xB2));
  EXPECT_TRUE(is_punctuation(U'$'));  // ASCII symbols count as punctuation
  EXPECT_FALSE(is_punctuation(U'€'));
  EXPECT_FALSE(is_punctuation(0x2E52));  // newer than the reference's table of punctuation
  EXPECT_TRUE(is_number(0x2167));
  EXPECT_TRUE(is_number(0x1CCF0));  // newer than utf8proc
  EXPECT_FALSE(is_mark(0x1AC1));
  EXPECT_TRUE(is_control(0xE000));
  EXPECT_FALSE(is_control(0x378));  // unassigned
  EXPECT_TRUE(is_chinese(0x4E2D));
  EXPECT_FALSE(is_chinese(0x3042));
}

TEST(Characters, LowercaseIsFullButTreatsEachCharacterAlone) {
  const auto lower = [](char32_t c) {
    std::string text;
    append_lowercase(text, c);
    return text;
  };
  EXPECT_EQ(lower(0x130), "i\u0307");
  EXPECT_EQ(lower(0x3A3), "σ");
  EXPECT_EQ(lower(0x1E9E), "ß");
  EXPECT_EQ(lower(0x1C5), "ǆ");
}

TEST(Characters, NormalFormsOrderMarksAndCompose) {
  EXPECT_EQ(normal_form("e\u0301", NormalForm::nfc), "é");
  EXPECT_EQ(normal_form("é", NormalForm::nfd), "e\u0301");
  EXPECT_EQ(normal_form("q\u0307\u0323", NormalForm::nfd), "q\u0323\u0307");
  EXPECT_EQ(normal_form("ﬁ²", NormalForm::nfkc), "fi2");
  EXPECT_EQ(normal_form("한", NormalForm::nfd), "\u1112\u1161\u11AB");
  EXPECT_EQ(normal_form("\u1112\u1161\u11AB", NormalForm::nfc), "한");
  EXPECT_EQ(normal_form("㋿", NormalForm::nfkc), "㋿");  // newer than the reference
}

TEST(Characters, GraphemeClustersKeepMarksAndJoinersTogether) {
  std::string_view rest = "e\u0301\r\n👨‍👩‍👧🇫🇷🇩🇪x";
  for (const char* cluster : {"e\u0301", "\r\n", "👨‍👩‍👧", "🇫🇷", "🇩🇪", "x"}) {
    EXPECT_EQ(rest.substr(0, first_grapheme(rest)), cluster);
    rest.remove_prefix(first_grapheme(rest));
  }
  EXPECT_EQ(rest, "");
}

TEST(PythonLower, MatchesPythonAndASigmaAtTheEndOfAWordIsAFinalSigma) {
  EXPECT_EQ(python_lower("İstanbul"), "i̇stanbul");
  EXPECT_EQ(python_lower("ǅ Ⅷ Ⓐ Ü"), "ǆ ⅷ ⓐ ü");
  EXPECT_EQ(python_lower("ΟΔΥΣΣΕΥΣ Σ"), "οδυσσευς σ");
  EXPECT_EQ(python_lower("ΑΣ1"), "ας1");
  EXPECT_EQ(python_lower("Α.Σ"), "α.ς");    // a full stop before the sigma does not end the word
  EXPECT_EQ(python_lower("ΑΣ.Α"), "ασ.α");  // nor does a full stop after it
  EXPECT_EQ(python_lower("1Σ"), "1σ");
}

}  // namespace
}  // namespace encdec
