#include "encdec/speech/transcription/known_text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "encdec/models/model/model.h"
#include "encdec/speech/transcription/whisper_facts.h"

namespace encdec {
namespace {

class KnownTextTest : public testing::Test {
 protected:
  KnownText text(const std::string& bytes, const std::string& language = "en") const {
    return {bytes, facts_.tokens, language};
  }
  static std::vector<std::string> texts(const KnownText& text) {
    std::vector<std::string> all;
    for (const KnownWord& word : text.words) all.push_back(word.text);
    return all;
  }

  Model model_ = Model::load(ENCDEC_PRETRAINED_DIR "/english-numbers");
  WhisperFacts facts_{model_.checkpoint(), model_.config(), model_.tokenizer()};
};

TEST_F(KnownTextTest, LinesComeBackAsTheyWereAndWordsBeginWithASpace) {
  const KnownText known = text(" set a\ttimer\r\n\n  \n\xEF\xBB\xBF(for) ten\xC2\xA0minutes!  ");
  EXPECT_EQ(known.lines, (std::vector<std::string>{" set a\ttimer", "\xEF\xBB\xBF(for) ten\xC2\xA0minutes!  "}));
  EXPECT_EQ(texts(known), (std::vector<std::string>{" set", " a", " timer", " (for)", " ten", " minutes!"}));
  EXPECT_EQ(known.words[2].line, 0u);
  EXPECT_EQ(known.words[3].line, 1u);
  for (const KnownWord& word : known.words) EXPECT_EQ(facts_.tokens.bytes(word.tokens), word.text);
}

TEST_F(KnownTextTest, MarksBelongToTheWordBeforeThemOrAfterThem) {
  const KnownText known = text("- one, two ... \"Three\"\n***");
  EXPECT_EQ(texts(known), (std::vector<std::string>{" - one,", " two ...", " \"Three\"", " ***"}));
  std::vector<std::string> spoken;
  for (const KnownWord& word : known.words) spoken.push_back(word.spoken);
  EXPECT_EQ(spoken, (std::vector<std::string>{"one", "two", "three", ""}));
}

TEST_F(KnownTextTest, LanguagesWithoutSpacesAreCutIntoCharactersOfTokens) {
  const KnownText known = text("今日は。明日", "ja");
  std::string joined;
  for (const std::string& word : texts(known)) joined += word;
  EXPECT_EQ(joined, "今日は。明日");
  EXPECT_EQ(known.words.size(), 5u);
  EXPECT_EQ(texts(text("今日は。明日")).size(), 1u);
}

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

TEST(WordMatching, WordsThatDifferOrAreMissingAreSkipped) {
  EXPECT_EQ(match("a b c d", "a b x d"), (WordPairs{{0, 0}, {1, 1}, {3, 3}}));
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
