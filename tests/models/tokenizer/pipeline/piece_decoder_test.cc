#include "encdec/models/tokenizer/pipeline/piece_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"

namespace encdec::piece_decoders {
namespace {

using testing::ElementsAre;
using Pieces = std::vector<std::string>;

Pieces decoded(const PieceDecoder& decoder, Pieces pieces) {
  decoder(pieces);
  return pieces;
}

TEST(PieceDecoder, MetaspaceBecomesASpaceExceptInTheFirstPiece) {
  EXPECT_THAT(decoded(metaspace({}), {"▁a▁b", "▁c", "d"}), ElementsAre("ab", " c", "d"));
  EXPECT_THAT(decoded(metaspace({.replacement = "_", .keep_first = true}), {"_a", "_c"}), ElementsAre(" a", " c"));
}

TEST(PieceDecoder, ByteLevelJoinsBytesOfSeveralPieces) {
  EXPECT_THAT(decoded(byte_level, {"Ã", "©Ġ", "a"}), ElementsAre("é a"));
  EXPECT_THAT(decoded(byte_level, {"Ã"}), ElementsAre("\uFFFD"));
  EXPECT_THAT(decoded(byte_level, {"中Ġ", "Ġ"}), ElementsAre("中Ġ "));  // not a byte-level piece
  EXPECT_THAT(decoded(byte_level, {}), ElementsAre(""));
}

TEST(PieceDecoder, WordPieceJoinsContinuations) {
  EXPECT_THAT(decoded(word_piece({}), {"do", "##ing", "this", "."}), ElementsAre("do", "ing", " this", "."));
  EXPECT_THAT(decoded(word_piece({.clean_up = false}), {"##a", "."}), ElementsAre("##a", " ."));
}

TEST(PieceDecoder, BpeSuffixesBecomeSpacesExceptTheLast) {
  EXPECT_THAT(decoded(bpe("</w>"), {"a</w>", "b", "c</w>"}), ElementsAre("a ", "b", "c"));
  EXPECT_THAT(decoded(bpe("</w>"), {}), ElementsAre());
}

TEST(PieceDecoder, BytePiecesBecomeText) {
  EXPECT_THAT(decoded(byte_fallback, {"a", "<0xC3>", "<0xA9>", "b", "<0xE9>", "<0x41>"}),
              ElementsAre("a", "é", "b", "\uFFFD", "\uFFFD"));
  EXPECT_THAT(decoded(byte_fallback, {"<0x4G>", "<0x+F>", "<0x41 "}), ElementsAre("<0x4G>", "\x0F", "<0x41 "));
}

TEST(PieceDecoder, EachOtherKindMatchesItsName) {
  EXPECT_THAT(decoded(replace(literal_pattern("▁"), " "), {"▁a▁", ""}), ElementsAre(" a ", ""));
  EXPECT_THAT(decoded(fuse, {"a", "b"}), ElementsAre("ab"));
  EXPECT_THAT(decoded(strip({.content = " ", .start = 1, .stop = 2}), {"  a   ", " ", ""}), ElementsAre(" a ", "", ""));
}

TEST(PieceDecoder, PiecesThatGrowWithoutEndAreAnError) {
  std::vector<PieceDecoder> parts;
  for (int i = 0; i < 10; ++i) parts.push_back(replace(literal_pattern("a"), std::string(1000, 'a')));
  EXPECT_THROW(decoded(sequence(std::move(parts)), {"a"}), TokenizerError);
}

TEST(CleanUpSpaces, PutsPunctuationBesideWords) {
  EXPECT_EQ(clean_up_spaces("Hi , you do n't say ' x ' ? I 'm . We 've , they 're ."),
            "Hi, you don't say'x '? I'm. We've, they're.");
}

}  // namespace
}  // namespace encdec::piece_decoders
