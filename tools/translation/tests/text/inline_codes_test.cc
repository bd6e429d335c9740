#include "encdec/translation/text/inline_codes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace encdec {
namespace {

// Returns text with inserted codes, written as tags. Each word is one letter and translates the unit given by its digit
// in `units`. A code is written "<b1" (begins before unit 1), ">b4" (ends before unit 4) or "-x2" (stands alone before
// unit 2). A capital letter means that the other code of the pair is missing.
std::string tagged(const std::string& units, const std::vector<std::string>& tags) {
  std::string text;
  std::vector<AlignedWord> words;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (i > 0) text += ' ';
    text += static_cast<char>('a' + static_cast<int>(i));
    words.push_back({.begin = 2 * i, .end = 2 * i + 1, .unit = static_cast<std::size_t>(units[i] - '0')});
  }
  std::vector<std::string> markups;
  for (const std::string& tag : tags) markups.push_back((tag[0] == '>' ? "</" : "<") + tag.substr(1, 1) + ">");
  std::vector<AlignedCode> aligned;
  for (const std::string& tag : tags) {
    using Kind = AlignedCode::Kind;
    aligned.push_back({.kind = tag[0] == '<'   ? Kind::begin
                               : tag[0] == '>' ? Kind::end
                                               : Kind::alone,
                       .unit = static_cast<std::size_t>(tag[2] - '0'),
                       .is_whole = tag[1] >= 'a',
                       .follows_space = tag[0] != '>',
                       .precedes_space = tag[0] == '>'});
  }
  std::string whole;
  std::size_t begin = 0;
  for (const auto& [code, place] : place_codes(words, aligned)) {
    whole += text.substr(begin, place - begin) + markups[code];
    begin = place;
  }
  return whole + text.substr(begin);
}

TEST(InlineCodes, FollowTheWordsOfTheirUnits) {
  EXPECT_EQ(tagged("0123", {"<x1", ">x3"}), "a <x>b c</x> d");
  EXPECT_EQ(tagged("3210", {"<x0", ">x2"}), "a b <x>c d</x>");
  EXPECT_EQ(tagged("0210", {"<x1", ">x3"}), "a <x>b c</x> d");
  // A word between two words of the element is included; a word far away is not.
  EXPECT_EQ(tagged("01012222", {"<x1", ">x2"}), "a <x>b</x> c d e f g h");
  EXPECT_EQ(tagged("11011222", {"<x1", ">x2"}), "<x>a b c d e</x> f g h");
  EXPECT_EQ(tagged("12222221", {"<x1", ">x2"}), "<x>a</x> b c d e f g h");
  // Nested elements, and neighbouring elements in another order.
  EXPECT_EQ(tagged("012345", {"<x1", "<y2", ">y3", ">x5"}), "a <x>b <y>c</y> d e</x> f");
  EXPECT_EQ(tagged("3412", {"<x1", ">x3", "<y3", ">y5"}), "<y>a b</y> <x>c d</x>");
  EXPECT_EQ(tagged("5512", {"<x1", "<y5", ">y6", ">x3"}), "a b <x>c d<y></y></x>");
}

TEST(InlineCodes, WithoutWordsKeepTheirPosition) {
  EXPECT_EQ(tagged("0123", {"-x2"}), "a b <x>c d");
  EXPECT_EQ(tagged("3120", {"-x2"}), "a b <x>c d");
  EXPECT_EQ(tagged("0011", {"-x5"}), "a b c d<x>");
  EXPECT_EQ(tagged("0123", {"<x2", ">x2"}), "a b <x></x>c d");
  EXPECT_EQ(tagged("0033", {"<x1", "<y1", ">y2", ">x2"}), "a b <x><y></y></x>c d");
  EXPECT_EQ(tagged("", {"<x1", ">x2", "-y3"}), "<x></x><y>");
}

TEST(InlineCodes, MayBeginOrEndOutsideTheText) {
  EXPECT_EQ(tagged("0123", {">X2"}), "a b</X> c d");
  EXPECT_EQ(tagged("0123", {"<X2"}), "a b <X>c d");
  EXPECT_EQ(tagged("3210", {">X2"}), "</X>a b c d");
  EXPECT_EQ(tagged("0123", {"<y0", ">y1", ">X2", "<Z3"}), "<y>a</y> b</X> c <Z>d");
  EXPECT_EQ(tagged("0123", {">Y1", ">X2"}), "a</Y> b</X> c d");
  EXPECT_EQ(tagged("0123", {"<X1", "<Y2"}), "a <X>b <Y>c d");
}

}  // namespace
}  // namespace encdec
