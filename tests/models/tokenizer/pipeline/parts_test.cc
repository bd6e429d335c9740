// Tests what the golden tokenizers do not show of normalizers, pre-tokenizers and piece decoders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/models/tokenizer/pipeline/normalizer.h"
#include "encdec/models/tokenizer/pipeline/piece_decoder.h"
#include "encdec/models/tokenizer/pipeline/pre_tokenizer.h"
#include "tests/models/tokenizer/sentencepiece/sentencepiece_writer.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

using namespace normalizers;
using test::ChainTrie;
using testing::ElementsAre;
using Pieces = std::vector<std::string>;

PipelineText applied(const Normalizer& normalizer, std::string_view text) {
  PipelineText result = PipelineText::whole(text);
  normalizer(result);
  return result;
}
Pieces decoded(const PieceDecoder& decoder, Pieces pieces) {
  decoder(pieces);
  return pieces;
}

TEST(PipelineParts, ThatGrowATextWithoutEndAreAnError) {
  const std::string many(1000, 'a');
  std::vector<Normalizer> normalizers;
  std::vector<PreTokenizer> pre_tokenizers;
  std::vector<PieceDecoder> decoders;
  for (int i = 0; i < 10; ++i) {
    normalizers.push_back(replace(literal_pattern("a"), many));
    decoders.push_back(piece_decoders::replace(literal_pattern("a"), many));
  }
  for (int i = 0; i < 64; ++i) {
    pre_tokenizers.push_back(pre_tokenizers::byte_level({.add_prefix_space = false, .use_regex = false}));
  }
  const PreTokenizer words = pre_tokenizers::sequence(std::move(pre_tokenizers));
  EXPECT_THROW(applied(sequence(std::move(normalizers)), "a"), TokenizerError);
  EXPECT_THROW(words(PipelineText::whole("é"), [](PipelineText&&) {}), TokenizerError);
  EXPECT_THROW(decoded(piece_decoders::sequence(std::move(decoders)), {"a"}), TokenizerError);
}

TEST(Normalizer, TracksTheBeginningOfTheText) {
  const auto begins_first = [](const Normalizer& normalizer, std::string_view text) {
    const PipelineText result = applied(normalizer, text);
    return result.slice(0, result.text.size()).is_first;
  };
  EXPECT_TRUE(begins_first(normalizers::strip({}), "a "));
  EXPECT_FALSE(begins_first(normalizers::strip({}), " a"));
  EXPECT_TRUE(begins_first(prepend("x"), "a"));
  EXPECT_TRUE(begins_first(lowercase, "İ"));
  // The replacement of a match belongs to the last character of the match.
  EXPECT_TRUE(begins_first(replace(literal_pattern(" "), "_"), " a"));
  EXPECT_FALSE(begins_first(replace(literal_pattern("  "), "_"), "  a"));
}

// Returns a table that replaces "a" by the text at an offset of `replacements`.
std::string table(std::uint32_t offset, std::string_view replacements) {
  ChainTrie trie(1);
  trie.units[ChainTrie::base(1)] = ChainTrie::kValue | offset;
  return trie.table(replacements);
}

TEST(Precompiled, ReplacesShortGraphemeClustersAsAWhole) {
  const auto normalizer = precompiled({table(2, std::string_view("x\0yz\0", 5)), "file"});
  EXPECT_EQ(applied(normalizer, "ba\u0301b").text, "byzb");
  EXPECT_EQ(applied(normalizer, "a\u0301\u0301b").text, "yzb");
  EXPECT_EQ(applied(normalizer, "a\u0301\u0301\u0301b").text, "yz\u0301\u0301\u0301b");
}

TEST(Precompiled, BeginningAfterADeletedCharacterIsAWholeCharacter) {
  const Normalizer deletes = precompiled({table(0, std::string_view("\0", 1)), "file"});
  const auto origin_bytes = [&](const Normalizer& next, std::string_view text) {
    return applied(sequence({deletes, next}), text).origin_bytes;
  };
  for (const NormalForm form : {NormalForm::nfc, NormalForm::nfd, NormalForm::nfkc, NormalForm::nfkd}) {
    EXPECT_EQ(origin_bytes(normal(form), "a中b"), 3u);
  }
  EXPECT_EQ(origin_bytes(normal(NormalForm::nfd), "aé"), 3u);  // e and the accent, which has 2 bytes
  EXPECT_EQ(origin_bytes(bert({.split_chinese = false}), "aéb"), 1u);
  EXPECT_EQ(origin_bytes(normal(NormalForm::nfc), "a"), 0u);
}

TEST(Precompiled, TablesWithOffsetsOutsideHaveNoEffect) {
  const auto replaced = [](const std::string& bytes) { return applied(precompiled({bytes, "file"}), "ab").text; };
  for (const std::uint32_t flags : {ChainTrie::kMatch, 0u}) {
    ChainTrie trie(1);
    trie.units[ChainTrie::position(1)] = 'a' | flags | 0x1FFFFu << 10;
    EXPECT_EQ(replaced(trie.table("x")), "ab");
  }
  EXPECT_EQ(replaced(table(500, "x")), "ab");
  EXPECT_EQ(replaced(table(1, "é")), "ab");
  EXPECT_EQ(replaced(table(0, "no end")), "no endb");
  EXPECT_EQ(replaced(std::string(4, '\0')), "ab");
}

TEST(Precompiled, DamagedTablesAreRefused) {
  for (const std::string& bytes : {std::string(), std::string(3, '\0'), table(0, "x").substr(0, 1000),
                                   std::string("\x05\0\0\0abcde", 9), table(0, "\xFF")}) {
    EXPECT_NE(
        refusal_of<TokenizerError>("file: a normalisation table with ", [&] { NormalizationTable(bytes, "file"); }),
        "no exception");
  }
}

TEST(PreTokenizer, GivesNoEmptyWords) {
  const auto words = [](const PreTokenizer& pre_tokenizer, std::string_view text) {
    Pieces result;
    pre_tokenizer(PipelineText::whole(text), [&](PipelineText&& word) { result.push_back(std::move(word.text)); });
    return result;
  };
  EXPECT_THAT(words(pre_tokenizers::metaspace({}), ""), ElementsAre());
  EXPECT_THAT(words(pre_tokenizers::char_delimiter_split("é"), "aébéé"), ElementsAre("a", "b"));
  EXPECT_THAT(words(pre_tokenizers::fixed_length(2), "aébcd"), ElementsAre("aé", "bc", "d"));
}

TEST(PieceDecoder, LeavesPiecesOfOtherKindsAsTheyAre) {
  EXPECT_THAT(decoded(piece_decoders::byte_level, {"中Ġ", "Ġ"}), ElementsAre("中Ġ "));
  EXPECT_THAT(decoded(piece_decoders::byte_fallback, {"<0x4G>", "<0x+F>", "<0x41 "}),
              ElementsAre("<0x4G>", "\x0F", "<0x41 "));
  EXPECT_THAT(decoded(piece_decoders::metaspace({}), {"▁a▁b", "▁c"}), ElementsAre("ab", " c"));
}

}  // namespace
}  // namespace encdec
