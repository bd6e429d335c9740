#include <gtest/gtest.h>

#include <sstream>

#include "encdec/speech/transcription/known_text.h"

namespace encdec {
namespace {

std::vector<KnownWord> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<KnownWord> words;
  for (std::string word; stream >> word;) words.push_back({.spoken = word});
  return words;
}

WordPairs match(const std::string& heard, const std::string& text) {
  return match_words(words_of(heard), words_of(text));
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(WordMatching, DifferentWordsAreNoPairs) {
  EXPECT_EQ(match("a b c d", "a b x d"), (WordPairs{{0, 0}, {1, 1}, {3, 3}}));
}

TEST(WordMatching, WordsThatWereNotHeardAndWordsThatAreNotInTheTextAreSkipped) {
  EXPECT_EQ(match("a b c d e f", "a b c x d e f"), (WordPairs{{0, 0}, {1, 1}, {2, 2}, {3, 4}, {4, 5}, {5, 6}}));
  EXPECT_EQ(match("u v w x a b c d", "a b c d"), (WordPairs{{4, 0}, {5, 1}, {6, 2}, {7, 3}}));
  EXPECT_EQ(match("a b c x y d e f", "a b c d e f"), (WordPairs{{0, 0}, {1, 1}, {2, 2}, {5, 3}, {6, 4}, {7, 5}}));
}

TEST(WordMatching, TheFurtherAwayTheMoreWordsMustAgree) {
  const std::string front = repeated("x y z ", 100);
  EXPECT_EQ(match("a b c d e f g", front + "a b c d e f g"), WordPairs());
  const std::string far = "a b c d e f g h i j k";
  EXPECT_EQ(match(far, front + far).front(), (WordPairs::value_type{0, 300}));
}

TEST(WordMatching, TheNextCopyOfARepeatedTextIsTakenEvenIfSomeWordsDiffer) {
  EXPECT_EQ(match("a b c d e f", "a b x d y f " + repeated("a b c d e f ", 10)).front(), (WordPairs::value_type{0, 0}));
}

TEST(WordMatching, TooFewWordsAreNoMatch) {
  EXPECT_EQ(match("a b c", "a y z"), WordPairs());
  EXPECT_EQ(match("a", "a y z"), (WordPairs{{0, 0}}));
  EXPECT_EQ(match("", "a"), WordPairs());
  EXPECT_EQ(match("a", ""), WordPairs());
}

}  // namespace
}  // namespace encdec
