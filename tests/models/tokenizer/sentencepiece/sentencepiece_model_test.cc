#include "encdec/models/tokenizer/sentencepiece/sentencepiece_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "tests/models/tokenizer/sentencepiece/sentencepiece_writer.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointee;
using namespace test;

const std::string kPretrained = std::string(ENCDEC_PRETRAINED_DIR) + "/english-pronunciation/";

std::string error_of(const std::string& bytes) {
  try {
    SentencePieceModel(bytes, "x.spm");
  } catch (const TokenizerError& error) {
    return error.what();
  }
  return "no error";
}

TEST(SentencePieceModel, CutsTextIntoPiecesAndBack) {
  const SentencePieceModel model(small_model(), "x.spm");
  EXPECT_THAT(model.encode("ab a"), ElementsAre("▁a", "b", "▁a"));
  EXPECT_THAT(model.encode("zz a"), ElementsAre("▁", "zz", "▁a"));  // adjacent unknown characters are one piece
  EXPECT_THAT(model.encode(""), ElementsAre());
  EXPECT_THAT(model.encode("   "), ElementsAre());
  const std::vector<std::string> pieces = {"▁a", "b", "▁a", "never seen"};
  EXPECT_EQ(model.decode(pieces), "ab anever seen");
  EXPECT_EQ(model.decode({}), "");
}

TEST(SentencePieceModel, ReturnsItsPiecesByNumber) {
  const SentencePieceModel model(small_model(), "x.spm");
  EXPECT_THAT(model.piece(3), Pointee(std::string("b")));
  EXPECT_EQ(model.piece(5), nullptr);
  EXPECT_EQ(model.piece(-1), nullptr);
}

TEST(SentencePieceModel, NormalisesByTheModelsTable) {
  ChainTrie trie(1);
  const SentencePieceModel model(small_model() + normalizer(trie.table(std::string("b\0", 2))), "x.spm");
  EXPECT_THAT(model.encode("aab"), ElementsAre("▁", "b", "b", "b"));
}

TEST(SentencePieceModel, AcceptsTextWithZeroBytes) {
  const SentencePieceModel model(small_model(), "x.spm");
  EXPECT_THAT(model.encode(std::string_view("a\0b", 3)), ElementsAre("▁a", std::string("\0", 1), "b"));
}

TEST(SentencePieceModel, RefusesTextThatIsNotUtf8) {
  const SentencePieceModel model(small_model(), "x.spm");
  EXPECT_THROW(model.encode("a\xFF"), TokenizerError);
}

std::string trainer(ModelType type, const std::string& more = "") {
  return bytes_field(2, number_field(3, type) + more);
}

std::string sample(const std::string& input, const std::string& expected) {
  return bytes_field(4, bytes_field(1, bytes_field(1, input) + bytes_field(2, expected)));
}

TEST(SentencePieceModel, BpeMergesTheBestPairFirstAndTheLeftmostOfEqualOnes) {
  const SentencePieceModel model(unknown_piece() + piece("a") + piece("b") + piece("ab", -2) + piece("ba", -1) +
                                     piece("aa", -3) + piece("abab", -4) + trainer(kBpe, "") +
                                     bytes_field(3, number_field(3, 0)),
                                 "x.spm");
  EXPECT_THAT(model.encode("abab"), ElementsAre("a", "ba", "b"));
  EXPECT_THAT(model.encode("aaa"), ElementsAre("aa", "a"));
  EXPECT_THAT(model.encode("zzab"), ElementsAre("zz", "ab"));
}

TEST(SentencePieceModel, BpeSplitsUnusedPiecesAndKeepsUserDefinedOnes) {
  const SentencePieceModel model(unknown_piece() + piece("a") + piece("b") + piece("ab", -1, kUnused) +
                                     piece("abb", -2, kUnused) + piece("abbb", -3) + piece("bU", 0) +
                                     piece("U", 0, kUserDefined) + trainer(kBpe) + bytes_field(3, number_field(3, 0)),
                                 "x.spm");
  EXPECT_THAT(model.encode("abb"), ElementsAre("a", "b", "b"));
  EXPECT_THAT(model.encode("abbb"), ElementsAre("abbb"));
  EXPECT_THAT(model.encode("bU"), ElementsAre("b", "U"));
}

TEST(SentencePieceModel, CharacterAndWordModelsCutAtEveryCharacterAndSpace) {
  const std::string pieces = unknown_piece() + piece("▁a") + piece("a") + piece("▁") + piece("ab", 0, kUserDefined);
  const SentencePieceModel characters(pieces + trainer(kCharacter), "x.spm");
  EXPECT_THAT(characters.encode("aab  zé"), ElementsAre("▁", "a", "ab", "▁", "zé"));
  const SentencePieceModel words(pieces + trainer(kWord), "x.spm");
  EXPECT_THAT(words.encode("a b c a"), ElementsAre("▁a", "▁b▁c", "▁a"));
}

TEST(SentencePieceModel, BytesBecomeCharactersAgain) {
  const SentencePieceModel model(small_model() + byte_pieces() + trainer(kBpe, number_field(35, 1)), "x.spm");
  EXPECT_THAT(model.encode("é"), ElementsAre("▁", "<0xC3>", "<0xA9>"));
  const std::vector<std::string> pieces = {"▁a", "<0xC3>", "<0xA9>", "<0xC3>", "b", "<0x21>"};
  EXPECT_EQ(model.decode(pieces), "aé\uFFFDb!");
}

TEST(SentencePieceModel, DecodesControlAndUnknownPiecesAsConfigured) {
  const std::string bytes = small_model() + piece("<s>", 0, kControl);
  const std::vector<std::string> pieces = {"<s>", "▁a", "<unk>", "▁b"};
  EXPECT_EQ(SentencePieceModel(bytes, "x.spm").decode(pieces), "a \u2047 ▁b");
  EXPECT_EQ(SentencePieceModel(bytes + bytes_field(2, bytes_field(44, "?")), "x.spm").decode(pieces), "a?▁b");
}

TEST(SentencePieceModel, DecodingRemovesTheSpaceThatEncodingAdds) {
  const std::vector<std::string> pieces = {"▁", "▁a", "▁a"};
  const auto decode = [&](const std::string& options) {
    return SentencePieceModel(small_model() + bytes_field(3, options), "x.spm").decode(pieces);
  };
  EXPECT_EQ(decode(""), "a a");
  EXPECT_EQ(decode(number_field(4, 0)), " a a");
  EXPECT_EQ(decode(number_field(3, 0)), "a a");
  EXPECT_EQ(decode(number_field(3, 0) + number_field(4, 0)), "  a a");
}

TEST(SentencePieceModel, NormalisesDecodedTextIfConfigured) {
  const std::string table = ChainTrie(1).table(std::string("b\0", 2));
  const SentencePieceModel model(
      small_model() + bytes_field(5, bytes_field(2, table) + number_field(3, 0) + number_field(5, 0)), "x.spm");
  const std::vector<std::string> pieces = {"▁a", "▁a"};
  EXPECT_EQ(model.decode(pieces), "b b");
}

TEST(SentencePieceModel, RefusesPiecesThatDoNotFitTogether) {
  const std::string fallback = trainer(kBpe, number_field(35, 1));
  const auto start = [](std::string_view what) { return "x.spm: not a sentencepiece model: " + std::string(what); };
  EXPECT_EQ(error_of(piece("a")), start("no unknown piece"));
  EXPECT_EQ(error_of(unknown_piece() + piece("a") + piece("a")), start("piece 2 'a' is there twice"));
  EXPECT_EQ(error_of(unknown_piece() + piece("?", 0, kUnknown)), start("piece 1 '?' is a second unknown piece"));
  EXPECT_EQ(error_of(unknown_piece()), start("no pieces for text"));
  EXPECT_EQ(error_of(small_model() + piece(std::string(1, '\0'))), start("piece 5 '\\u0000' begins with a NUL byte"));
  EXPECT_EQ(error_of(small_model() + fallback), start("pieces for 0 bytes, expected 256"));
  EXPECT_EQ(error_of(small_model() + piece("<0xa0>", 0, kByte) + fallback),
            start("piece 5 '<0xa0>' is a byte piece, expected <0x00> to <0xFF>"));
  EXPECT_EQ(error_of(small_model() + piece("<0xA0>", 0, kByte)),
            start("piece 5 '<0xA0>' is a byte piece, but byte_fallback is false"));
}

TEST(SentencePieceModel, RefusesTextWithAControlPieceOfOneCharacter) {
  const SentencePieceModel model(small_model() + piece("c", 0, kControl) + trainer(kBpe), "x.spm");
  EXPECT_THAT(model.encode("ab"), ElementsAre("▁a", "b"));
  EXPECT_THROW(model.encode("ac"), TokenizerError);
}

TEST(SentencePieceModel, ChecksItselfWithItsSamples) {
  const std::string bpe = small_model() + trainer(kBpe);
  EXPECT_EQ(error_of(bpe + sample("ab", "▁a b")), "no error");
  EXPECT_THAT(error_of(bpe + sample("ab", "▁ a b")), HasSubstr("its sample 'ab' becomes '"));
  // Any cut with the same score is accepted.
  EXPECT_EQ(error_of(small_model() + sample("bab", "▁ b a b")), "no error");
  EXPECT_EQ(error_of(small_model() + sample("bab", "▁ a b b")), "no error");
  EXPECT_THAT(error_of(small_model() + sample("bab", "▁ b a")), HasSubstr("its sample 'bab' becomes '"));
}

TEST(SentencePieceModel, AcceptsManyUserDefinedPiecesThatBeginWithOneAnother) {
  std::string model = small_model() + piece(std::string(1024, 'a'));
  for (std::size_t i = 1; i <= 200; ++i) model += piece(std::string(i, 'u'), 0, kUserDefined);
  model += normalizer(ChainTrie(100).table(std::string(256, 'b') + '\0'));
  const auto pieces = SentencePieceModel(model, "x.spm").encode(std::string(200, 'u') + std::string(110, 'a'));
  EXPECT_EQ(pieces.at(1), std::string(200, 'u'));
  EXPECT_EQ(pieces.size(), 2u + 2 * 256);  // 100 and 10 times "a" match
}

TEST(SentencePieceModel, NamesAMissingFile) {
  EXPECT_THROW(SentencePieceModel::read("/nonexistent/source.spm"), FileError);
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
  std::size_t loaded = 0;
  const auto attempt = [&](const std::string& changed) {
    try {
      use(SentencePieceModel(changed, "x.spm"));
      ++loaded;
    } catch (const TokenizerError& error) {
      ASSERT_THAT(error.what(), HasSubstr("x.spm: "));
    }
  };
  for (std::size_t size = 0; size < bytes.size(); ++size) attempt(bytes.substr(0, size));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int change : {0x01, 0x02, 0x08, 0x10, 0x80, 0xFF}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ change);
      attempt(changed);
    }
  }
  EXPECT_GT(loaded, 0u);
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
    try {
      use(SentencePieceModel(changed, "x.spm"));
    } catch (const TokenizerError& error) {
      ASSERT_THAT(error.what(), HasSubstr("x.spm: "));
    }
  }
}

}  // namespace
}  // namespace encdec
