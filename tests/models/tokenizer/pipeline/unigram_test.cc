#include "encdec/models/tokenizer/pipeline/unigram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

Ids tokenize(const Unigram& model, std::string_view word) {
  Ids ids;
  model.tokenize(word, ids);
  return ids;
}

TEST(Unigram, TakesTheHighestSumOfScores) {
  const Unigram model(
      {.pieces = {{"<unk>", 0}, {"a", -1}, {"b", -1}, {"ab", -3}, {"abc", -2.5}, {"c", -1}, {"bc", -0.5}},
       .unknown_id = 0},
      "file");
  EXPECT_THAT(tokenize(model, "ab"), ElementsAre(1, 2));
  EXPECT_THAT(tokenize(model, "abc"), ElementsAre(1, 6));
  EXPECT_THAT(tokenize(model, ""), ElementsAre());
}

TEST(Unigram, OfEqualSumsTheOneThatBeginsEarlierCounts) {
  const Unigram model({.pieces = {{"<unk>", 0}, {"a", -1}, {"aa", -2}}, .unknown_id = 0}, "file");
  EXPECT_THAT(tokenize(model, "aa"), ElementsAre(2));
}

TEST(Unigram, UnknownCharactersInARowAreOne) {
  const Unigram model({.pieces = {{"<unk>", 0}, {"a", -1}}, .unknown_id = 0}, "file");
  EXPECT_THAT(tokenize(model, "éxaé"), ElementsAre(0, 1, 0));
}

TEST(Unigram, BytesStandForUnknownTextIfAllExist) {
  const Unigram model(
      {.pieces = {{"<unk>", 0}, {"a", -1}, {"<0xC3>", -1}, {"<0xA9>", -1}}, .unknown_id = 0, .byte_fallback = true},
      "file");
  EXPECT_THAT(tokenize(model, "aéé"), ElementsAre(1, 2, 3, 2, 3));
  EXPECT_THAT(tokenize(model, "aéx"), ElementsAre(1, 0));
}

TEST(Unigram, WithoutUnknownPieceUnknownCharactersAreAnError) {
  const Unigram model({.pieces = {{"a", -1}}, .unknown_id = std::nullopt}, "file: model");
  EXPECT_THAT(tokenize(model, "aa"), ElementsAre(0, 0));
  try {
    tokenize(model, "ab");
    FAIL();
  } catch (const TokenizerError& error) {
    EXPECT_THAT(error.what(), HasSubstr("file: model: no piece for 'b'"));
  }
}

TEST(Unigram, OfEqualPiecesTheLastCounts) {
  const Unigram model({.pieces = {{"a", -1}, {"a", -2}}, .unknown_id = std::nullopt}, "file");
  EXPECT_THAT(tokenize(model, "a"), ElementsAre(1));
  EXPECT_EQ(*model.piece(0), "a");
}

TEST(Unigram, RefusesWhatDoesNotFit) {
  const auto build = [](std::vector<Unigram::Piece> pieces, std::int32_t unknown) {
    return Unigram({.pieces = std::move(pieces), .unknown_id = unknown}, "file");
  };
  EXPECT_THROW(build({{"a", 0}}, 1), TokenizerError);
  EXPECT_THROW(build({{"a", 0}}, -1), TokenizerError);
  EXPECT_THROW(build({}, 0), TokenizerError);
  EXPECT_THROW(build({{"a", std::numeric_limits<double>::infinity()}}, 0), TokenizerError);
  EXPECT_THROW(build({{std::string(1025, 'a'), 0}}, 0), TokenizerError);
}

TEST(Unigram, WordsOfAMillionCharactersAreCut) {
  const Unigram model({.pieces = {{"<unk>", 0}, {"a", -3}, {"aaaa", -1}}, .unknown_id = 0}, "file");
  EXPECT_EQ(tokenize(model, std::string(1'000'000, 'a')), Ids(250'000, 2));
}

}  // namespace
}  // namespace encdec
