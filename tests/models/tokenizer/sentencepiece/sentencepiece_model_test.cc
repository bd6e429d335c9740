#include "encdec/models/tokenizer/sentencepiece/sentencepiece_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "encdec/models/checkpoint/mapped_file.h"
#include "tests/models/tokenizer/sentencepiece/sentencepiece_writer.h"
#include "tests/support/damage.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointee;
using testing::StartsWith;
using namespace test;
using Pieces = std::vector<std::string>;

const std::string kPretrained = std::string(ENCDEC_PRETRAINED_DIR) + "/english-pronunciation/";

SentencePieceModel model_of(const std::string& bytes) {
  return {bytes, "x.spm"};
}
std::string error_of(const std::string& bytes) {
  return refusal_of<TokenizerError>("x.spm: ", [&] { model_of(bytes); });
}

std::string trainer(ModelType type, const std::string& more = "") {
  return bytes_field(2, number_field(3, type) + more);
}
std::string without_dummy_prefix() {
  return bytes_field(3, number_field(3, 0));
}
std::string sample(const std::string& input, const std::string& expected) {
  return bytes_field(4, bytes_field(1, bytes_field(1, input) + bytes_field(2, expected)));
}

TEST(SentencePieceModel, CutsTextIntoPiecesAndBack) {
  const SentencePieceModel model = model_of(small_model());
  EXPECT_THAT(model.encode("ab a"), ElementsAre("▁a", "b", "▁a"));
  EXPECT_THAT(model.encode("zz a"), ElementsAre("▁", "zz", "▁a"));  // adjacent unknown characters are one piece
  EXPECT_THAT(model.encode(std::string_view("a\0b", 3)), ElementsAre("▁a", std::string("\0", 1), "b"));
  EXPECT_THAT(model.encode("   "), ElementsAre());
  EXPECT_EQ(model.decode(Pieces{"▁a", "b", "▁a", "never seen"}), "ab anever seen");
  EXPECT_THAT(model.piece(3), Pointee(std::string("b")));
  EXPECT_EQ(model.piece(5), nullptr);
  EXPECT_EQ(model.piece(-1), nullptr);
  EXPECT_THROW(model.encode("a\xFF"), TokenizerError);
}

TEST(SentencePieceModel, BpeMergesTheBestPairFirstAndTheLeftmostOfEqualOnes) {
  const SentencePieceModel model =
      model_of(unknown_piece() + piece("a") + piece("b") + piece("ab", -2) + piece("ba", -1) + piece("aa", -3) +
               piece("abab", -4) + trainer(kBpe) + without_dummy_prefix());
  EXPECT_THAT(model.encode("abab"), ElementsAre("a", "ba", "b"));
  EXPECT_THAT(model.encode("aaa"), ElementsAre("aa", "a"));
  EXPECT_THAT(model.encode("zzab"), ElementsAre("zz", "ab"));
}

TEST(SentencePieceModel, BpeSplitsUnusedPiecesAndKeepsUserDefinedOnes) {
  const SentencePieceModel model = model_of(unknown_piece() + piece("a") + piece("b") + piece("ab", -1, kUnused) +
                                            piece("abb", -2, kUnused) + piece("abbb", -3) + piece("bU", 0) +
                                            piece("U", 0, kUserDefined) + trainer(kBpe) + without_dummy_prefix());
  EXPECT_THAT(model.encode("abb"), ElementsAre("a", "b", "b"));
  EXPECT_THAT(model.encode("abbb"), ElementsAre("abbb"));
  EXPECT_THAT(model.encode("bU"), ElementsAre("b", "U"));
}

TEST(SentencePieceModel, CharacterAndWordModelsCutAtEveryCharacterAndSpace) {
  const std::string pieces = unknown_piece() + piece("▁a") + piece("a") + piece("▁") + piece("ab", 0, kUserDefined);
  EXPECT_THAT(model_of(pieces + trainer(kCharacter)).encode("aab  zé"), ElementsAre("▁", "a", "ab", "▁", "zé"));
  EXPECT_THAT(model_of(pieces + trainer(kWord)).encode("a b c a"), ElementsAre("▁a", "▁b▁c", "▁a"));
}

std::string letters() {
  return unknown_piece() + piece("▁") + piece("a") + piece("aa", -1.5F) + piece("▁a", -1.5F);
}

TEST(SentencePieceUnigram, TakesTheBestCutAndTheFirstOfEqualOnesAndUserDefinedPieces) {
  EXPECT_THAT(model_of(letters()).encode("a aa"), ElementsAre("▁a", "▁", "aa"));
  EXPECT_THAT(model_of(letters()).encode("aaa"), ElementsAre("▁a", "aa"));
  EXPECT_THAT(model_of(letters() + piece("xa", 0, kUserDefined)).encode("axaa"), ElementsAre("▁a", "xa", "a"));
}

// Scores are added in float32: in any other precision "0" "00" and "00" "0" have equal sums.
TEST(SentencePieceUnigram, AddsScoresInSinglePrecision) {
  const std::string digits = unknown_piece() + piece("▁a", -3.1F) + piece("0", -5.080953598022461F) +
                             piece("00", -6.89328670501709F) + piece("▁1", -6.058979511260986F) +
                             piece(",", -3.8824188709259033F);
  EXPECT_THAT(model_of(digits).encode("1,000"), ElementsAre("▁1", ",", "0", "00"));
}

TEST(SentencePieceModel, SpacesAreTreatedAsConfigured) {
  const auto encode = [](const std::string& normalizer, const std::string& trainer = "") {
    return model_of(letters() + piece("a▁", -0.5F) + bytes_field(2, trainer) + bytes_field(3, normalizer))
        .encode("  a   a ");
  };
  EXPECT_THAT(encode(""), ElementsAre("▁", "a▁", "a"));
  EXPECT_THAT(encode(number_field(3, 0)), ElementsAre("a▁", "a"));  // no space in front
  EXPECT_THAT(encode(number_field(4, 0)), ElementsAre("▁", "▁", "▁", "a▁", "▁", "▁", "a▁"));
  EXPECT_THAT(encode("", number_field(24, 1)), ElementsAre("a▁", "a▁"));  // the space follows the text
  EXPECT_THAT(encode(number_field(5, 0)), ElementsAre(" ", "a", " ", "a"));
  const auto decode = [](const std::string& options) {
    return model_of(small_model() + bytes_field(3, options)).decode(Pieces{"▁", "▁a", "▁a"});
  };
  EXPECT_EQ(decode(""), "a a");
  EXPECT_EQ(decode(number_field(4, 0)), " a a");
  EXPECT_EQ(decode(number_field(3, 0)), "a a");
  EXPECT_EQ(decode(number_field(3, 0) + number_field(4, 0)), "  a a");
}

TEST(SentencePieceModel, UnknownCharactersBecomeBytesAndCharactersAgain) {
  for (const ModelType type : {kBpe, kUnigram}) {
    const SentencePieceModel model = model_of(small_model() + byte_pieces() + trainer(type, number_field(35, 1)));
    EXPECT_THAT(model.encode("éa"), ElementsAre("▁", "<0xC3>", "<0xA9>", "a"));
    EXPECT_EQ(model.decode(Pieces{"▁a", "<0xC3>", "<0xA9>", "<0xC3>", "b", "<0x21>"}), "aé\uFFFDb!");
  }
}

TEST(SentencePieceModel, DecodesControlAndUnknownPiecesAsConfigured) {
  const std::string bytes = small_model() + piece("<s>", 0, kControl);
  const Pieces pieces = {"<s>", "▁a", "<unk>", "▁b"};
  EXPECT_EQ(model_of(bytes).decode(pieces), "a \u2047 ▁b");
  EXPECT_EQ(model_of(bytes + bytes_field(2, bytes_field(44, "?"))).decode(pieces), "a?▁b");
}

TEST(SentencePieceModel, NormalisesByItsTables) {
  const std::string table = ChainTrie(1).table(std::string("b\0", 2));
  EXPECT_THAT(model_of(small_model() + normalizer(table)).encode("aab"), ElementsAre("▁", "b", "b", "b"));
  const std::string denormalizer = bytes_field(5, bytes_field(2, table) + number_field(3, 0) + number_field(5, 0));
  EXPECT_EQ(model_of(small_model() + denormalizer).decode(Pieces{"▁a", "▁a"}), "b b");
}

TEST(SentencePieceModel, RefusesTextThatItsTableMakesTooLong) {
  const SentencePieceModel grows =
      model_of(letters() + normalizer(ChainTrie(1).table(std::string(250, 'b') + std::string(1, '\0'))));
  EXPECT_THAT(grows.encode("a").size(), 2u);
  EXPECT_THROW(grows.encode(std::string(1u << 20, 'a')), TokenizerError);
}

TEST(SentencePieceModel, AcceptsManyUserDefinedPiecesThatBeginWithOneAnother) {
  std::string bytes = small_model() + piece(std::string(1024, 'a'));
  for (std::size_t i = 1; i <= 200; ++i) bytes += piece(std::string(i, 'u'), 0, kUserDefined);
  bytes += normalizer(ChainTrie(100).table(std::string(256, 'b') + '\0'));
  const Pieces pieces = model_of(bytes).encode(std::string(200, 'u') + std::string(110, 'a'));
  EXPECT_EQ(pieces.at(1), std::string(200, 'u'));
  EXPECT_EQ(pieces.size(), 2u + 2 * 256);  // 100 and 10 times "a" match
}

// Bytes of a model, and what the message says about them.
using Refusals = std::vector<std::pair<std::string, const char*>>;

Refusals pieces_that_do_not_fit() {
  const std::string fallback = trainer(kBpe, number_field(35, 1));
  return {{piece("a"), "no unknown piece"},
          {unknown_piece() + piece("a") + piece("a"), "piece 2 'a' is there twice"},
          {unknown_piece() + piece("?", 0, kUnknown), "piece 1 '?' is a second unknown piece"},
          {unknown_piece(), "no pieces for text"},
          {small_model() + piece(std::string(1, '\0')), "piece 5 '\\u0000' begins with a NUL byte"},
          {small_model() + fallback, "pieces for 0 bytes, expected 256"},
          {small_model() + piece("<0xa0>", 0, kByte) + fallback,
           "piece 5 '<0xa0>' is a byte piece, expected <0x00> to <0xFF>"},
          {small_model() + piece("<0xA0>", 0, kByte), "piece 5 '<0xA0>' is a byte piece, but byte_fallback is false"}};
}

std::string with_table(const std::string& table) {
  return small_model() + normalizer(table);
}

Refusals damaged_pieces() {
  const std::string valid = small_model();
  std::string samples;
  for (int i = 0; i <= 100'000; ++i) samples += bytes_field(1, "");
  std::string many = unknown_piece();
  for (int i = 0; i < 1'000'000; ++i) many += bytes_field(1, bytes_field(1, std::to_string(i)));
  return {
      {"", "no pieces"},
      {"this is not a model\n", "a field"},
      {valid.substr(0, valid.size() - 1), "a field of 12 bytes where 11 are left"},
      {valid + varint(7 << 3 | 3), "a field of wire type 3"},
      {valid + number_field(0, 1), "a field number out of range"},
      {valid + number_field(1u << 29, 1), "a field number out of range"},
      {valid + varint(1 << 3 | 2) + varint(~0ull), "a field of 18446744073709551615 bytes"},
      {valid + varint(9 << 3) + std::string(11, '\x80'), "a number of more than ten bytes"},
      {valid + piece(""), "piece 5 has 0 bytes, expected 1 to 1024"},
      {valid + bytes_field(1, float_field(2, 1)), "piece 5 has 0 bytes"},
      {valid + piece(std::string(1025, 'a')), "piece 5 has 1025 bytes, expected 1 to 1024"},
      {valid + bytes_field(1, bytes_field(1, std::string(9999, 'a')) + float_field(1, 1)), "piece 5 has 9999 bytes"},
      {valid + piece("\xE2\x96"), "piece 5 is not valid UTF-8"},
      {valid + piece(std::string("a\0b", 3)), "piece 5 is not valid UTF-8 or contains a NUL byte"},
      {valid + piece("c", std::numeric_limits<float>::quiet_NaN()), "piece 5 has the score nan"},
      {valid + piece("c", std::numeric_limits<float>::infinity()), "piece 5 has the score inf"},
      {valid + bytes_field(1, bytes_field(1, "x") + number_field(3, 9)), "a piece's type is 9"},
      {valid + bytes_field(1, bytes_field(1, "x") + number_field(3, (1ull << 32) + 4)), "a piece's type is 4294967300"},
      {valid + bytes_field(2, number_field(3, 5)), "the model's type is 5"},
      {valid + bytes_field(2, number_field(3, 0)), "the model's type is 0"},
      {many, "more than 1000000 pieces"},
      {valid + bytes_field(2, bytes_field(44, std::string(257, 'x'))), "an unk_surface of 257 bytes"},
      {valid + bytes_field(4, std::string((4u << 20) + 1, 'x')), "field 4 of 4194305 bytes"},
      {valid + bytes_field(4, samples), "more than 100000 samples"},
      {with_table(std::string(4u << 20, 'x')), "field 3 of"},
  };
}

Refusals damaged_tables() {
  const std::string end(1, '\0');
  const std::string replacement = "b" + end;
  ChainTrie cycle(3);
  cycle.set(ChainTrie::position(3), 'a', ChainTrie::base(0), false);
  ChainTrie self(1);
  self.set(ChainTrie::position(1), 'a', ChainTrie::base(0), false);
  ChainTrie outside(2);
  outside.set(ChainTrie::position(2), 'a', 256 * 4, false);
  ChainTrie root_outside(1);
  root_outside.units[0] = 0xFFFFFFFF;
  ChainTrie beyond(1);
  beyond.units[ChainTrie::base(1)] = ChainTrie::kValue | 2;
  ChainTrie middle(1);
  middle.units[ChainTrie::base(1)] = ChainTrie::kValue | 1;
  const std::string table = ChainTrie(1).table(replacement);
  return {
      {with_table("abc"), "a normalisation table with 3 bytes"},
      {with_table(table.substr(0, 1000)), "a trie of 3072 bytes in a table of 996"},
      {with_table(table.substr(0, 3074)), "a trie of 3072 bytes in a table of 3070"},
      {with_table(std::string(4, '\0') + replacement), "leads outside"},
      {with_table(std::string("\4\0\0\0", 4) + std::string(4, '\0') + replacement), "a trie of 1 units"},
      {with_table(ChainTrie(1).table("")), "a replacement without an end"},
      {with_table(ChainTrie(1).table("b")), "a replacement without an end"},
      {with_table(ChainTrie(1).table("\xFF" + end)), "replacements that are not UTF-8"},
      {with_table(ChainTrie(1).table(std::string(257, 'b') + end)), "a replacement of 257 bytes"},
      {with_table(beyond.table(replacement)), "a replacement at 2 of 2"},
      {with_table(middle.table("é" + end)), "a replacement at 1 of 3"},
      {with_table(cycle.table(replacement)), "a cycle"},
      {with_table(self.table(replacement)), "a cycle"},
      {with_table(outside.table(replacement)), "leads outside of itself"},
      {with_table(root_outside.table(replacement)), "leads outside of itself"},
      {small_model() + bytes_field(5, bytes_field(2, "abc")), "a normalisation table with 3 bytes"},
      {small_model() + normalizer("abc") + normalizer(table), "a normalisation table with 3 bytes"},
  };
}

TEST(SentencePieceModel, DamagedFilesAreRefusedByName) {
  for (const Refusals& refusals : {pieces_that_do_not_fit(), damaged_pieces(), damaged_tables()}) {
    for (const auto& [bytes, found] : refusals) {
      EXPECT_THAT(error_of(bytes), AllOf(StartsWith("x.spm: not a sentencepiece model: "), HasSubstr(found)));
    }
  }
}

TEST(SentencePieceModel, RefusesTextWithAControlPieceOfOneCharacter) {
  const SentencePieceModel model = model_of(small_model() + piece("c", 0, kControl) + trainer(kBpe));
  EXPECT_THAT(model.encode("ab"), ElementsAre("▁a", "b"));
  EXPECT_THROW(model.encode("ac"), TokenizerError);
}

TEST(SentencePieceModel, ChecksItselfWithItsSamples) {
  const std::string bpe = small_model() + trainer(kBpe);
  EXPECT_EQ(error_of(bpe + sample("ab", "▁a b")), "no exception");
  EXPECT_THAT(error_of(bpe + sample("ab", "▁ a b")), HasSubstr("its sample 'ab' becomes '"));
  // Any cut with the same score is accepted.
  EXPECT_EQ(error_of(small_model() + sample("bab", "▁ b a b")), "no exception");
  EXPECT_EQ(error_of(small_model() + sample("bab", "▁ a b b")), "no exception");
  EXPECT_THAT(error_of(small_model() + sample("bab", "▁ b a")), HasSubstr("its sample 'bab' becomes '"));
}

// Encodes and decodes text that follows every path of the trie, to find a path out of bounds.
void use(const SentencePieceModel& model) {
  std::mt19937 bits(7);
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(bits() % 128);
  for (const char* word : {"ａｂｃ", "ﬁ", "½", "한글", "   ", "▁", "é", "\u0301", "👍"}) text += word;
  try {
    const auto pieces = model.encode(text);
    model.decode(pieces);
  } catch (const TokenizerError&) {  // a model may refuse a text
  }
}

TEST(SentencePieceModel, EveryTruncationAndEveryChangedByteIsRefusedOrHarmless) {
  const std::string bytes = read_text_file(kPretrained + "target.spm", 1u << 20);
  ASSERT_LT(bytes.size(), 4000u);
  const DamageReport report = read_damaged(bytes, [](const std::string& damaged) { use(model_of(damaged)); });
  EXPECT_GT(report.read, 0u);
}

TEST(SentencePieceModel, ChangedTablesAreRefusedOrHarmless) {
  const std::string bytes = read_text_file(kPretrained + "source.spm", 1u << 20);
  const std::size_t table = bytes.find("nmt_nfkc");
  ASSERT_NE(table, std::string::npos);
  std::mt19937 bits(1);
  for (int round = 0; round < 200; ++round) {
    std::string changed = bytes;
    for (int i = 0; i < 1 << round % 8; ++i) {
      changed[table + 16 + bits() % (bytes.size() - table - 16)] = static_cast<char>(bits());
    }
    refusal_of<TokenizerError>("x.spm: ", [&] { use(model_of(changed)); });
  }
}

}  // namespace
}  // namespace encdec
