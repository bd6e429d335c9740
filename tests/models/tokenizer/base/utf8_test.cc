#include "encdec/models/tokenizer/base/utf8.h"

#include <gtest/gtest.h>

#include "tests/support/message_of.h"

namespace encdec {
namespace {

std::string encoded(char32_t c) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), byte(0x80 | (c & 0x3F))};
  if (c < 0x10000) return {byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
  return {byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 0x3F)), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
}

TEST(Utf8, EveryCharacterRoundTrips) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c == 0xD800) c = 0xE000;
    const std::string text = "x" + encoded(c);
    ASSERT_FALSE(find_invalid_utf8(text)) << static_cast<unsigned>(c);
    const auto characters = code_points(text);
    ASSERT_EQ(characters.size(), 2u);
    ASSERT_EQ(characters[1].value, c);
    ASSERT_EQ(characters[1].offset, 1u);
  }
}

TEST(Utf8, SurrogatesAreNotCharacters) {
  for (char32_t c = 0xD800; c < 0xE000; ++c) ASSERT_EQ(find_invalid_utf8("ab" + encoded(c)), 2u);
}

TEST(Utf8, EveryOverlongFormIsRefused) {
  for (unsigned c = 0; c < 0x80; ++c) {
    const std::string overlong = {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
    ASSERT_EQ(find_invalid_utf8(overlong), 0u) << c;
  }
  for (const char* text : {"\xE0\x80\x80", "\xE0\x9F\xBF", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF"}) {
    EXPECT_EQ(find_invalid_utf8(text), 0u) << text;
  }
}

TEST(Utf8, TheFirstWrongByteIsReported) {
  const std::pair<std::string, std::size_t> kCases[] = {{"\x80", 0},
                                                        {"a\xBFz", 1},
                                                        {"é\xFF", 2},
                                                        {"\xF5\x80\x80\x80", 0},
                                                        {"\xF4\x90\x80\x80", 0},
                                                        {"ab\xC3", 2},
                                                        {"ab\xE2\x96", 2},
                                                        {"\xF0\x9F\x98", 0},
                                                        {"€\xE2\x82x", 3},
                                                        {"\xC3\xC3\xA9", 0},
                                                        {"\xF8\x88\x80\x80\x80", 0},
                                                        {std::string("\0\xFE", 2), 1}};
  for (const auto& [text, offset] : kCases) EXPECT_EQ(find_invalid_utf8(text), offset) << testing::PrintToString(text);
  EXPECT_FALSE(find_invalid_utf8(""));
}

TEST(CheckText, ReportsTheOffset) {
  EXPECT_EQ(message_of<TokenizerError>([] { check_text("Gr\xFC\xDF dich"); }), "text is not valid UTF-8 at byte 2");
}

TEST(CheckText, AcceptsTextUpToTheLimit) {
  EXPECT_NO_THROW(check_text(std::string(kMaxTextBytes, 'a')));
  EXPECT_THROW(check_text(std::string(kMaxTextBytes + 1, 'a')), TokenizerError);
}

TEST(Strip, RemovesWhatPythonCountsAsWhitespace) {
  // The characters of which Python's str.isspace() is true.
  std::string spaces = "\t\n\v\f\r\x1C\x1D\x1E\x1F ";
  for (const char32_t c : std::u32string{0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000})
    spaces += encoded(c);
  for (char32_t c = 0x2000; c <= 0x200A; ++c) spaces += encoded(c);
  EXPECT_EQ(strip_left(spaces + "é x" + spaces), "é x" + spaces);
  EXPECT_EQ(strip_right(spaces + "x é" + spaces), spaces + "x é");
  EXPECT_EQ(strip_left(spaces), "");
  EXPECT_EQ(strip_right(spaces), "");
}

TEST(Strip, KeepsCharactersThatOnlyLookEmpty) {
  for (const char32_t c : std::u32string{0x00, 0x08, 0x7F, 0xAD, 0x180E, 0x200B, 0x200D, 0x2060, 0xFEFF}) {
    EXPECT_EQ(strip_left(encoded(c)), encoded(c)) << static_cast<unsigned>(c);
    EXPECT_EQ(strip_right(encoded(c)), encoded(c)) << static_cast<unsigned>(c);
  }
}

}  // namespace
}  // namespace encdec
