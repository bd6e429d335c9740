#include "encdec/speech/transcription/known_text.h"

#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"
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

TEST_F(KnownTextTest, RefusesBytesThatAreNotUtf8) {
  EXPECT_THROW(text("a \xFF"), TokenizerError);
}

}  // namespace
}  // namespace encdec
