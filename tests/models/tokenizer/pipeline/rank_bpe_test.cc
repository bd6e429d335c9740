#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/piece_model.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

// Returns a model with all bytes, whose ids are their values, followed by `pieces`.
PieceModelPtr model_of(const std::vector<std::string>& pieces) {
  Vocabulary vocabulary;
  for (int byte = 0; byte < 256; ++byte) {
    vocabulary.add(std::string(byte_character(static_cast<std::uint8_t>(byte))), byte, "file");
  }
  for (const std::string& piece : pieces) {
    vocabulary.add(piece, static_cast<std::int32_t>(vocabulary.size()), "file");
  }
  return piece_models::rank_bpe(std::move(vocabulary), "file");
}

std::string byte_level_piece(std::string_view bytes) {
  std::string piece;
  for (const char byte : bytes) piece += byte_character(static_cast<std::uint8_t>(byte));
  return piece;
}

Ids tokenize(const PieceModelPtr& model, std::string_view bytes) {
  Ids ids;
  model->tokenize(byte_level_piece(bytes), ids, nullptr);
  return ids;
}

TEST(RankBpe, ThePairWithTheSmallestIdIsMergedFirst) {
  EXPECT_THAT(tokenize(model_of({"bc", "ab"}), "abc"), ElementsAre('a', 256));
  EXPECT_THAT(tokenize(model_of({"ab", "bc"}), "abc"), ElementsAre(256, 'c'));
  EXPECT_THAT(tokenize(model_of({"ab", "abab", "ababa"}), "ababab"), ElementsAre(257, 256));
}

TEST(RankBpe, TheLeftmostOfEqualPairsIsMerged) {
  EXPECT_THAT(tokenize(model_of({"aa"}), "aaaaa"), ElementsAre(256, 256, 'a'));
  EXPECT_THAT(tokenize(model_of({"xa", "ax", "xax"}), "xaaxa"), ElementsAre(256, 'a', 256));
  EXPECT_THAT(tokenize(model_of({"bb", "bbb"}), "bbbbb"), ElementsAre(256, 257));
}

TEST(RankBpe, AWordThatIsAPieceIsNotCut) {
  EXPECT_THAT(tokenize(model_of({"abcd"}), "abcd"), ElementsAre(256));
  EXPECT_THAT(tokenize(model_of({"abcd"}), "abcde"), ElementsAre('a', 'b', 'c', 'd', 'e'));
}

TEST(RankBpe, BytesNeedNotFormCharacters) {
  const auto model = model_of({byte_level_piece("\xe2\x98"), byte_level_piece(" \xe2")});
  EXPECT_THAT(tokenize(model, "\xe2\x98\x83"), ElementsAre(256, 0x83));
  EXPECT_THAT(tokenize(model, std::string_view("\0\xff", 2)), ElementsAre(0, 0xff));
  EXPECT_EQ(*model->piece(257), "\u0120\u00e2");
  EXPECT_EQ(model->size(), 258u);
  EXPECT_EQ(model->id("\u0120"), ' ');
}

TEST(RankBpe, RefusesVocabulariesWithoutAllBytes) {
  Vocabulary few;
  few.add("a", 0, "file");
  EXPECT_THAT(refusal_of<TokenizerError>("file: ", [&] { piece_models::rank_bpe(std::move(few), "file"); }),
              HasSubstr("no token for the byte 0x00, expected one for each"));
  EXPECT_THAT(refusal_of<TokenizerError>("file: ", [] { model_of({std::string(kMaxPieceBytes + 1, 'a')}); }),
              HasSubstr("piece 256 has 1025 bytes, expected at most 1024"));
}

}  // namespace
}  // namespace encdec
