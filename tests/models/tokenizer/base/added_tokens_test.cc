#include "encdec/models/tokenizer/base/added_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::Pointee;

// Expected parts come from class Trie of transformers 5.23.
TEST(WordTrie, SplitsAsTransformersDoes) {
  const struct {
    std::vector<std::string> words;
    std::string text;
    std::vector<std::string> parts;
  } kCases[] = {
      {{}, "abc", {"abc"}},
      {{"a"}, "", {}},
      {{""}, "ab", {"ab"}},
      {{"A"}, "ABC", {"A", "BC"}},
      {{"extra_id_1", "extra_id_100"}, "extra_id_10 extra_id_100", {"extra_id_1", "0 ", "extra_id_100"}},
      {{"AB", "B", "C"}, "ABC", {"AB", "C"}},
      {{"ABC", "B", "CD"}, "ABCD", {"ABC", "D"}},
      {{"blowing", "lower"}, "blower", {"b", "lower"}},
      {{"aa"}, "aaaaa", {"aa", "aa", "a"}},
      {{"é", "ée"}, "éeé", {"ée", "é"}},
      {{"</s>", "</s></s>"}, "x</s></s></s>", {"x", "</s></s>", "</s>"}},
      // A search from left to right would find "a" and "b" here. transformers, which trained the models, does not.
      {{"a", "bab"}, "baab", {"baab"}},
      {{"abb", "b"}, "abcb", {"abcb"}},
      {{"c", "bca"}, "bcba", {"bcba"}}};
  for (const auto& [words, text, parts] : kCases) {
    WordTrie trie;
    for (const std::string& word : words) trie.add(word);
    EXPECT_THAT(trie.split(text), ElementsAreArray(parts)) << text;
  }
}

Vocabulary vocabulary() {
  return Vocabulary::parse(R"({"</s>": 0, "<unk>": 1, "a": 2, "b": 3})", "vocab.json");
}

std::vector<std::string> texts(const std::vector<AddedTokens::Part>& parts) {
  std::vector<std::string> result;
  result.reserve(parts.size());
  for (const auto& part : parts) result.push_back(part.is_token ? "{" + part.text + "}" : part.text);
  return result;
}

TEST(AddedTokens, SpecialTokensHaveTheVocabularysIdOrTheNextFreeOne) {
  const AddedTokens tokens({}, {"</s>", "<pad>", "b", "<mask>"}, vocabulary());
  EXPECT_EQ(tokens.id("</s>"), 0);
  EXPECT_EQ(tokens.id("b"), 3);
  EXPECT_EQ(tokens.id("<pad>"), 4);
  EXPECT_EQ(tokens.id("<mask>"), 5);
  EXPECT_EQ(tokens.id("<unk>"), std::nullopt);
  EXPECT_THAT(tokens.token(4), Pointee(std::string("<pad>")));
  EXPECT_EQ(tokens.token(1), nullptr);
  EXPECT_TRUE(tokens.is_special("<mask>"));
  EXPECT_TRUE(tokens.is_special(5));
  EXPECT_FALSE(tokens.is_special(1));
}

TEST(AddedTokens, FreeIdsComeAfterThoseOfOtherAddedTokens) {
  const AddedTokens tokens({{100, {.content = "x"}}, {2, {.content = "a"}}}, {"<pad>"}, vocabulary());
  EXPECT_EQ(tokens.id("<pad>"), 5);  // after four pieces and "x"
}

TEST(AddedTokens, ASpecialTokenMayTakeTheIdOfAnotherToken) {
  const AddedTokens tokens({{5, {.content = "x"}}}, {"<pad>"}, vocabulary());
  EXPECT_EQ(tokens.id("<pad>"), 5);
  EXPECT_EQ(tokens.id("x"), 5);
  EXPECT_THAT(tokens.token(5), Pointee(std::string("<pad>")));
  EXPECT_THAT(texts(tokens.split("x<pad>x")), ElementsAre("{x}", "{<pad>}", "{x}"));
}

TEST(AddedTokens, AddedTokensNeedNotBeSpecial) {
  const AddedTokens tokens({{9, {.content = "word"}}}, {"</s>"}, vocabulary());
  EXPECT_THAT(texts(tokens.split("a word</s>s")), ElementsAre("a ", "{word}", "{</s>}", "s"));
  EXPECT_FALSE(tokens.is_special("word"));
}

TEST(AddedTokens, StripTheWhitespaceAroundThemIfConfigured) {
  const AddedTokens left({{9, {.content = "<x>", .strip_left = true}}}, {}, vocabulary());
  const AddedTokens right({{9, {.content = "<x>", .strip_right = true}}}, {}, vocabulary());
  EXPECT_THAT(texts(left.split("a \u3000<x>\t b")), ElementsAre("a", "{<x>}", "\t b"));
  EXPECT_THAT(texts(right.split("a \u3000<x>\t b")), ElementsAre("a \u3000", "{<x>}", "b"));
  EXPECT_THAT(texts(left.split("  <x>")), ElementsAre("{<x>}"));
  EXPECT_THAT(texts(right.split("<x>  <x>")), ElementsAre("{<x>}", "{<x>}"));
}

TEST(AddedTokens, SingleWordsAreFoundOnlyBetweenSpaces) {
  const AddedTokens tokens({{9, {.content = "cat", .single_word = true}}}, {}, vocabulary());
  EXPECT_THAT(texts(tokens.split("cat")), ElementsAre("{cat}"));
  EXPECT_THAT(texts(tokens.split("a cat b")), ElementsAre("a ", "{cat}", " b"));
  EXPECT_THAT(texts(tokens.split("concat b")), ElementsAre("concat", " b"));
  EXPECT_THAT(texts(tokens.split("a cats")), ElementsAre("a ", "cats"));
  EXPECT_THAT(texts(tokens.split("a\tcat")), ElementsAre("a\tcat"));  // here a tab does not count as a space
}

}  // namespace
}  // namespace encdec
