#include "encdec/models/tokenizer/pipeline/wordpiece.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using Ids = std::vector<std::int32_t>;

WordPiece model(const std::vector<std::string>& pieces, std::size_t max_characters = 100) {
  Vocabulary vocabulary;
  for (const std::string& piece : pieces) vocabulary.add(piece, static_cast<std::int32_t>(vocabulary.size()), "file");
  return {{.vocabulary = std::move(vocabulary), .max_word_characters = max_characters}, "file"};
}

Ids tokenize(const WordPiece& model, std::string_view word) {
  Ids ids;
  model.tokenize(word, ids);
  return ids;
}

TEST(WordPiece, TakesTheLongestPieces) {
  const WordPiece words = model({"[UNK]", "un", "##aff", "##able", "una", "##ffable", "##ff", "a"});
  EXPECT_THAT(tokenize(words, "unaffable"), ElementsAre(4, 5));
  EXPECT_THAT(tokenize(words, "a"), ElementsAre(7));
}

TEST(WordPiece, AWordThatCannotBeCutIsUnknownAsAWhole) {
  const WordPiece words = model({"[UNK]", "ab", "##c"});
  EXPECT_THAT(tokenize(words, "abd"), ElementsAre(0));
  EXPECT_THAT(tokenize(words, "c"), ElementsAre(0));
  EXPECT_THAT(tokenize(words, "abc"), ElementsAre(1, 2));
}

TEST(WordPiece, ATooLongWordIsUnknown) {
  const WordPiece words = model({"[UNK]", "é", "##é"}, 3);
  EXPECT_THAT(tokenize(words, "ééé"), ElementsAre(1, 2, 2));
  EXPECT_THAT(tokenize(words, "éééé"), ElementsAre(0));
}

TEST(WordPiece, WithoutUnknownPieceUnknownWordsAreAnError) {
  EXPECT_THROW(tokenize(model({"a"}), "b"), TokenizerError);
  EXPECT_THROW(model({std::string(1025, 'a')}), TokenizerError);
}

TEST(WordPiece, WordsOfAMillionCharactersAreCut) {
  Ids expected(500'000, 2);
  expected[0] = 1;
  EXPECT_EQ(tokenize(model({"[UNK]", "aa", "##aa"}, 2'000'000), std::string(1'000'000, 'a')), expected);
}

}  // namespace
}  // namespace encdec
