
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/sentencepiece/sentencepiece_model.h"
#include "tests/models/tokenizer/sentencepiece/sentencepiece_writer.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using namespace test;

SentencePieceModel model(const std::string& bytes) {
  return {bytes, "x.model"};
}

std::string letters() {
  return unknown_piece() + piece("▁") + piece("a") + piece("aa", -1.5F) + piece("▁a", -1.5F);
}

TEST(SentencePieceUnigram, TakesTheBestCutAndTheFirstOfEqualOnes) {
  EXPECT_THAT(model(letters()).encode("a aa"), ElementsAre("▁a", "▁", "aa"));
  EXPECT_THAT(model(letters()).encode("aaa"), ElementsAre("▁a", "aa"));
}

// Scores are added in float32: in any other precision "0" "00" and "00" "0" have equal sums.
TEST(SentencePieceUnigram, AddsScoresInSinglePrecision) {
  const std::string digits = unknown_piece() + piece("▁a", -3.1F) + piece("0", -5.080953598022461F) +
                             piece("00", -6.89328670501709F) + piece("▁1", -6.058979511260986F) +
                             piece(",", -3.8824188709259033F);
  EXPECT_THAT(model(digits).encode("1,000"), ElementsAre("▁1", ",", "0", "00"));
}

TEST(SentencePieceUnigram, UnknownCharactersAreOnePieceOrBytes) {
  EXPECT_THAT(model(letters()).encode("xéa"), ElementsAre("▁", "xé", "a"));
  const auto with_bytes = model(letters() + byte_pieces() + bytes_field(2, number_field(35, 1)));
  EXPECT_THAT(with_bytes.encode("éa"), ElementsAre("▁", "<0xC3>", "<0xA9>", "a"));
}

TEST(SentencePieceUnigram, UserDefinedPiecesAreAlwaysTaken) {
  EXPECT_THAT(model(letters() + piece("xa", 0, kUserDefined)).encode("axaa"), ElementsAre("▁a", "xa", "a"));
}

TEST(SentencePieceUnigram, SpacesAreTreatedAsConfigured) {
  const auto encode = [](const std::string& normalizer_options, const std::string& trainer_options = "") {
    return model(letters() + piece("a▁", -0.5F) + bytes_field(2, trainer_options) + bytes_field(3, normalizer_options))
        .encode("  a   a ");
  };
  EXPECT_THAT(encode(""), ElementsAre("▁", "a▁", "a"));
  EXPECT_THAT(encode(number_field(3, 0)), ElementsAre("a▁", "a"));  // no space in front
  EXPECT_THAT(encode(number_field(4, 0)), ElementsAre("▁", "▁", "▁", "a▁", "▁", "▁", "a▁"));
  EXPECT_THAT(encode("", number_field(24, 1)), ElementsAre("a▁", "a▁"));  // the space follows the text
  EXPECT_THAT(encode(number_field(5, 0)), ElementsAre(" ", "a", " ", "a"));
}

TEST(SentencePieceUnigram, RefusesTextThatItsTableMakesTooLong) {
  const ChainTrie trie(1);
  const auto grows = model(letters() + normalizer(trie.table(std::string(250, 'b') + std::string(1, '\0'))));
  EXPECT_THAT(grows.encode("a").size(), 2u);
  EXPECT_THROW(grows.encode(std::string(1u << 20, 'a')), TokenizerError);
}

}  // namespace
}  // namespace encdec
