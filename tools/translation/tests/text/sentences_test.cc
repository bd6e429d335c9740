#include "encdec/translation/text/sentences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts_of(const std::vector<Sentence>& sentences) {
  std::vector<std::string> texts;
  for (const Sentence& sentence : sentences) texts.push_back(sentence.text);
  return texts;
}

std::string joined(const std::vector<Sentence>& sentences) {
  std::string text;
  for (const Sentence& sentence : sentences) text += sentence.text + sentence.space;
  return text;
}

TEST(Sentences, EndByTheRulesOfTheLanguage) {
  EXPECT_THAT(texts_of(split_text("Mr. Smith came. He left at 3.5 p.m.  Why?", Split::sentences, "en")),
              ElementsAre("Mr. Smith came.", "He left at 3.5 p.m.", "Why?"));
  EXPECT_THAT(texts_of(split_text(".NET is old. The .NET tools are not. A . B", Split::sentences, "en")),
              ElementsAre(".NET is old.", "The .NET tools are not.", "A .", "B"));
  EXPECT_THAT(texts_of(split_text("今天很好。我们走吧！", Split::sentences, "zh")),
              ElementsAre("今天很好。", "我们走吧！"));
  EXPECT_THAT(texts_of(split_text("यह एक है। यह दो है।", Split::sentences, "hi")), ElementsAre("यह एक है।", "यह दो है।"));
  EXPECT_THAT(texts_of(split_text("one\ntwo. three", Split::sentences, "en")), ElementsAre("one", "two. three"));
  EXPECT_THAT(texts_of(split_text("One. Two\nthree. Four.", Split::sentences_over_lines, "en")),
              ElementsAre("One.", "Two\nthree.", "Four."));
  EXPECT_THAT(texts_of(split_text("One. Two.\n Three.", Split::newlines, "en")), ElementsAre("One. Two.", "Three."));
  EXPECT_THAT(texts_of(split_text(" One. Two.\n ", Split::never, "en")), ElementsAre("", "One. Two."));
  EXPECT_THAT(split_text("", Split::sentences, "en"), IsEmpty());
}

TEST(Sentences, AndTheSpacesBetweenThemJoinToTheText) {
  for (const std::string& text :
       {std::string("  A b.\r\n\r\n\tC d?  E.\n"), std::string("\n\n"), std::string("a\xff b. \xc2"), std::string("…"),
        std::string("\u3000あ。\u3000い。"), std::string("x\0y. z", 6), std::string("A.\u2029B.\u00a0C")}) {
    for (const Split split : {Split::never, Split::newlines, Split::sentences, Split::sentences_over_lines}) {
      const auto sentences = split_text(text, split, "en");
      EXPECT_EQ(joined(sentences), text);
      const auto parts = cut_to_fit(sentences, "en", [](const std::string& part) { return part.size() <= 3; });
      EXPECT_EQ(joined(parts), text);
    }
  }
}

TEST(Sentences, AreCutAtSentencesThenAtClausesThenAtWordsIfTooLong) {
  const auto cut = [](const std::string& text, std::size_t longest) {
    return texts_of(
        cut_to_fit({{text, ""}}, "en", [longest](const std::string& part) { return part.size() <= longest; }));
  };
  EXPECT_THAT(cut("He came, saw Mr. Smith, left. Then one, two", 40),
              ElementsAre("He came, saw Mr. Smith, left.", "Then one, two"));
  EXPECT_THAT(cut("one two, three four five", 16), ElementsAre("one two,", "three four five"));
  EXPECT_THAT(cut("今天很好，我们一起走吧", 24), ElementsAre("今天很好，", "我们一起走吧"));
  EXPECT_THAT(cut("one two three four", 9), ElementsAre("one two", "three", "four"));
  EXPECT_THAT(cut("aaaaaaaa", 4), ElementsAre("aaaa", "aaaa"));
  EXPECT_THAT(cut("あいう", 3), ElementsAre("あ", "い", "う"));
  EXPECT_THAT(cut("あ", 1), ElementsAre("あ"));
}

}  // namespace
}  // namespace encdec
