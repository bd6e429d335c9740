#include "encdec/models/tokenizer/pipeline/piece_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "encdec/engine/base/error.h"

namespace encdec::piece_models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

Vocabulary vocabulary(const std::vector<std::string>& pieces) {
  Vocabulary result;
  for (const std::string& piece : pieces) result.add(piece, static_cast<std::int32_t>(result.size()), "file");
  return result;
}

Ids tokenize(const PieceModel& model, std::string_view word) {
  Ids ids;
  model.tokenize(word, ids, nullptr);
  return ids;
}

TEST(Unigram, TakesTheHighestSumOfScores) {
  const auto model =
      unigram({.pieces = {{"<unk>", 0}, {"a", -1}, {"b", -1}, {"ab", -3}, {"abc", -2.5}, {"c", -1}, {"bc", -0.5}},
               .unknown_id = 0},
              "file");
  EXPECT_THAT(tokenize(*model, "ab"), ElementsAre(1, 2));
  EXPECT_THAT(tokenize(*model, "abc"), ElementsAre(1, 6));
  EXPECT_THAT(tokenize(*model, ""), ElementsAre());
}

TEST(Unigram, OfEqualSumsTheLongerLastPieceWins) {
  const auto model = unigram({.pieces = {{"<unk>", 0}, {"a", -1}, {"aa", -2}}, .unknown_id = 0}, "file");
  EXPECT_THAT(tokenize(*model, "aa"), ElementsAre(2));
}

TEST(Unigram, AdjacentUnknownCharactersAreOnePiece) {
  const auto model = unigram({.pieces = {{"<unk>", 0}, {"a", -1}}, .unknown_id = 0}, "file");
  EXPECT_THAT(tokenize(*model, "éxaé"), ElementsAre(0, 1, 0));
}

TEST(Unigram, BytesReplaceUnknownTextIfAllExist) {
  const auto model = unigram(
      {.pieces = {{"<unk>", 0}, {"a", -1}, {"<0xC3>", -1}, {"<0xA9>", -1}}, .unknown_id = 0, .byte_fallback = true},
      "file");
  EXPECT_THAT(tokenize(*model, "aéé"), ElementsAre(1, 2, 3, 2, 3));
  EXPECT_THAT(tokenize(*model, "aéx"), ElementsAre(1, 0));
}

TEST(Unigram, WithoutUnknownPieceUnknownCharactersAreAnError) {
  const auto model = unigram({.pieces = {{"a", -1}}, .unknown_id = std::nullopt}, "file: model");
  EXPECT_THAT(tokenize(*model, "aa"), ElementsAre(0, 0));
  try {
    tokenize(*model, "ab");
    FAIL();
  } catch (const TokenizerError& error) {
    EXPECT_THAT(error.what(), HasSubstr("file: model: no piece for 'b'"));
  }
}

TEST(Unigram, TheLastOfEqualPiecesWins) {
  const auto model = unigram({.pieces = {{"a", -1}, {"a", -2}}, .unknown_id = std::nullopt}, "file");
  EXPECT_THAT(tokenize(*model, "a"), ElementsAre(1));
  EXPECT_EQ(*model->piece(0), "a");
}

TEST(Unigram, RefusesModelsThatDoNotFitTogether) {
  const auto build = [](std::vector<ScoredPiece> pieces, std::int32_t unknown) {
    return unigram({.pieces = std::move(pieces), .unknown_id = unknown}, "file");
  };
  EXPECT_THROW(build({{"a", 0}}, 1), TokenizerError);
  EXPECT_THROW(build({{"a", 0}}, -1), TokenizerError);
  EXPECT_THROW(build({}, 0), TokenizerError);
  EXPECT_THROW(build({{"a", std::numeric_limits<double>::infinity()}}, 0), TokenizerError);
  EXPECT_THROW(build({{std::string(1025, 'a'), 0}}, 0), TokenizerError);
}

TEST(Unigram, WordsOfAMillionCharactersAreCut) {
  const auto model = unigram({.pieces = {{"<unk>", 0}, {"a", -3}, {"aaaa", -1}}, .unknown_id = 0}, "file");
  EXPECT_EQ(tokenize(*model, std::string(1'000'000, 'a')), Ids(250'000, 2));
}

TEST(Bpe, TheLowestRankIsMergedFirstAndTheLeftmostOfEqualOnes) {
  const auto model =
      bpe({.vocabulary = vocabulary({"a", "b", "c", "ab", "bc", "aa"}), .merges = {{"b", "c"}, {"a", "b"}, {"a", "a"}}},
          "file");
  EXPECT_THAT(tokenize(*model, "abc"), ElementsAre(0, 4));
  EXPECT_THAT(tokenize(*model, "aaa"), ElementsAre(5, 0));
  EXPECT_THAT(tokenize(*model, "abab"), ElementsAre(3, 3));
  EXPECT_THAT(tokenize(*model, ""), ElementsAre());
}

TEST(Bpe, TheIdsOfManyWordsGrowByDoubling) {
  const auto model = bpe({.vocabulary = vocabulary({"a", "aa"}), .merges = {{"a", "a"}}}, "file");
  Ids ids;
  int moves = 0;
  for (int word = 0; word < 10'000; ++word) {
    const std::size_t room = ids.capacity();
    model->tokenize("aaa", ids, nullptr);
    moves += ids.capacity() != room ? 1 : 0;
  }
  EXPECT_LE(moves, 20);
}

TEST(Bpe, UnknownCharactersBecomeOnePieceOrSeveralOrNone) {
  const auto model = [](bool fuse, std::optional<std::string> unknown) {
    return bpe({.vocabulary = vocabulary({"<unk>", "a"}), .merges = {}, .unknown_token = unknown, .fuse_unknown = fuse},
               "file");
  };
  EXPECT_THAT(tokenize(*model(false, "<unk>"), "xyaz"), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(tokenize(*model(true, "<unk>"), "xyaz"), ElementsAre(0, 1, 0));
  EXPECT_THAT(tokenize(*model(true, std::nullopt), "xyaz"), ElementsAre(1));
  EXPECT_THROW(tokenize(*model(true, "[UNK]"), "x"), TokenizerError);
  EXPECT_THAT(tokenize(*model(true, "[UNK]"), "a"), ElementsAre(1));
}

TEST(Bpe, BytesReplaceUnknownCharactersIfAllExist) {
  const auto model = bpe({.vocabulary = vocabulary({"<unk>", "a", "<0xC3>", "<0xA9>"}),
                          .merges = {},
                          .unknown_token = "<unk>",
                          .byte_fallback = true},
                         "file");
  EXPECT_THAT(tokenize(*model, "aé"), ElementsAre(1, 2, 3));
  EXPECT_THAT(tokenize(*model, "aè"), ElementsAre(1, 0));
}

TEST(Bpe, PrefixAndSuffixArePartsOfPieces) {
  const auto model = bpe({.vocabulary = vocabulary({"a", "##b", "##c</w>", "ab", "abc</w>", "a</w>"}),
                          .merges = {{"a", "##b"}, {"ab", "##c</w>"}},
                          .continuing_subword_prefix = "##",
                          .end_of_word_suffix = "</w>"},
                         "file");
  EXPECT_THAT(tokenize(*model, "abc"), ElementsAre(4));
  EXPECT_THAT(tokenize(*model, "a"), ElementsAre(5));
}

TEST(Bpe, WholeWordsNeedNoMergesIfConfigured) {
  const auto model = [](bool ignore) {
    return bpe({.vocabulary = vocabulary({"a", "b", "ab"}), .merges = {}, .ignore_merges = ignore}, "file");
  };
  EXPECT_THAT(tokenize(*model(true), "ab"), ElementsAre(2));
  EXPECT_THAT(tokenize(*model(true), "aba"), ElementsAre(0, 1, 0));
  EXPECT_THAT(tokenize(*model(false), "ab"), ElementsAre(0, 1));
}

TEST(Bpe, MergesOfUnknownPiecesAreRefused) {
  const auto build = [](std::string left, std::string right, std::string prefix) {
    return bpe({.vocabulary = vocabulary({"a", "b", "ab", "c"}),
                .merges = {{"a", "b"}, {std::move(left), std::move(right)}},
                .continuing_subword_prefix = std::move(prefix)},
               "file: model");
  };
  const auto message = [&](const char* left, const char* right, const char* prefix = "") -> std::string {
    try {
      build(left, right, prefix);
    } catch (const TokenizerError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("x", "b"), HasSubstr("file: model: merge 1 of 'x' and 'b': 'x' is not in the vocabulary"));
  EXPECT_THAT(message("a", "x"), HasSubstr("'x' is not in the vocabulary"));
  EXPECT_THAT(message("a", "c"), HasSubstr("'ac' is not in the vocabulary"));
  EXPECT_THAT(message("a", "b", "##"), HasSubstr("shorter than the prefix"));
  EXPECT_EQ(message("a", "b"), "");
}

TEST(Bpe, WordsOfAMillionCharactersAreMerged) {
  const auto model = bpe({.vocabulary = vocabulary({"a", "aa", "aaaa"}), .merges = {{"a", "a"}, {"aa", "aa"}}}, "file");
  EXPECT_EQ(tokenize(*model, std::string(1'000'000, 'a')), Ids(250'000, 2));
}

PieceModelPtr word_piece_model(const std::vector<std::string>& pieces, std::size_t max_characters = 100) {
  Vocabulary vocabulary;
  for (const std::string& piece : pieces) vocabulary.add(piece, static_cast<std::int32_t>(vocabulary.size()), "file");
  return word_piece({.vocabulary = std::move(vocabulary), .max_word_characters = max_characters}, "file");
}

TEST(WordPiece, TakesTheLongestPieces) {
  const auto words = word_piece_model({"[UNK]", "un", "##aff", "##able", "una", "##ffable", "##ff", "a"});
  EXPECT_THAT(tokenize(*words, "unaffable"), ElementsAre(4, 5));
  EXPECT_THAT(tokenize(*words, "a"), ElementsAre(7));
}

TEST(WordPiece, AWordThatCannotBeCutIsUnknownAsAWhole) {
  const auto words = word_piece_model({"[UNK]", "ab", "##c"});
  EXPECT_THAT(tokenize(*words, "abd"), ElementsAre(0));
  EXPECT_THAT(tokenize(*words, "c"), ElementsAre(0));
  EXPECT_THAT(tokenize(*words, "abc"), ElementsAre(1, 2));
}

TEST(WordPiece, ATooLongWordIsUnknown) {
  const auto words = word_piece_model({"[UNK]", "é", "##é"}, 3);
  EXPECT_THAT(tokenize(*words, "ééé"), ElementsAre(1, 2, 2));
  EXPECT_THAT(tokenize(*words, "éééé"), ElementsAre(0));
}

TEST(WordPiece, WithoutUnknownPieceUnknownWordsAreAnError) {
  EXPECT_THROW(tokenize(*word_piece_model({"a"}), "b"), TokenizerError);
  EXPECT_THROW(word_piece_model({std::string(1025, 'a')}), TokenizerError);
}

TEST(WordPiece, WordsOfAMillionCharactersAreCut) {
  Ids expected(500'000, 2);
  expected[0] = 1;
  EXPECT_EQ(tokenize(*word_piece_model({"[UNK]", "aa", "##aa"}, 2'000'000), std::string(1'000'000, 'a')), expected);
}

TEST(WordLevel, WordsAreKnownOrUnknown) {
  Vocabulary vocabulary;
  vocabulary.add("<unk>", 3, "file");
  vocabulary.add("a", 5, "file");
  const auto model = word_level({.vocabulary = std::move(vocabulary)}, "file");
  std::vector<std::int32_t> ids;
  model->tokenize("a", ids, nullptr);
  model->tokenize("b", ids, nullptr);
  EXPECT_THAT(ids, testing::ElementsAre(5, 3));
  EXPECT_EQ(*model->piece(5), "a");
  EXPECT_EQ(model->piece(4), std::nullopt);
}

TEST(WordLevel, WithoutUnknownPieceUnknownWordsAreAnError) {
  const auto model = word_level({.vocabulary = {}, .unknown_token = "?"}, "file: model");
  std::vector<std::int32_t> ids;
  EXPECT_THROW(model->tokenize("b", ids, nullptr), TokenizerError);
}

}  // namespace
}  // namespace encdec::piece_models
