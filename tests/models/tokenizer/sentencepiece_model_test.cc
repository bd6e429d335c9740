#include "encdec/models/tokenizer/sentencepiece_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/tokenizer/sentencepiece_check.h"
#include "tests/models/tokenizer/sentencepiece_writer.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointee;
using namespace test;

const std::string kPretrained = std::string(ENCDEC_PRETRAINED_DIR) + "/english-pronunciation/";

std::string small_model() {
  return unknown_piece() + piece("▁a") + piece("a", -2) + piece("b") + piece("▁", -3);
}

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
  EXPECT_THAT(model.encode("zz a"), ElementsAre("▁", "zz", "▁a"));  // neighbouring unknown characters are one piece
  EXPECT_THAT(model.encode(""), ElementsAre());
  EXPECT_THAT(model.encode("   "), ElementsAre());
  const std::vector<std::string> pieces = {"▁a", "b", "▁a", "never seen"};
  EXPECT_EQ(model.decode(pieces), "ab anever seen");
  EXPECT_EQ(model.decode({}), "");
}

TEST(SentencePieceModel, KnowsItsPiecesByNumber) {
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

TEST(SentencePieceModel, TakesTextWithZeroBytes) {
  const SentencePieceModel model(small_model(), "x.spm");
  EXPECT_THAT(model.encode(std::string_view("a\0b", 3)), ElementsAre("▁a", std::string("\0", 1), "b"));
}

TEST(SentencePieceModel, RefusesTextThatIsNotUtf8) {
  const SentencePieceModel model(small_model(), "x.spm");
  EXPECT_THROW(model.encode("a\xFF"), TokenizerError);
}

TEST(SentencePieceModel, NeverPrints) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const SentencePieceModel model(small_model(), "x.spm");  // the library would say that there is no table
  error_of(piece("a"));
  model.encode("z");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(SentencePieceModel, ReportsWhatTheLibraryFindsWrong) {
  EXPECT_EQ(error_of(piece("a")), "x.spm: unk is not defined.");
  EXPECT_EQ(error_of(unknown_piece() + piece("a") + piece("a")), "x.spm: a is already defined.");
  EXPECT_THAT(error_of(unknown_piece()), HasSubstr("x.spm: no pieces are loaded"));
}

TEST(SentencePieceModel, NamesAFileThatIsNotThere) {
  EXPECT_THROW(SentencePieceModel::read("/nonexistent/source.spm"), FileError);
}

struct BadModel {
  std::string name;
  std::string bytes;
  std::string message;
};

void PrintTo(const BadModel& model, std::ostream* stream) {
  *stream << model.name;
}

std::string with_table(const std::string& table) {
  return small_model() + normalizer(table);
}

std::vector<BadModel> bad_pieces() {
  const std::string valid = small_model();
  std::string nested = valid;
  for (std::size_t i = 1; i <= 65; ++i) nested += piece(std::string(i, 'u'), 0, kUserDefined);
  std::string many = unknown_piece();
  for (int i = 0; i < 1'000'000; ++i) many += bytes_field(1, bytes_field(1, std::to_string(i)));
  return {
      {"Empty", "", "no pieces"},
      {"Text", "this is not a model\n", "a field"},
      {"Truncated", valid.substr(0, valid.size() - 1), "a field of 12 bytes where 11 are left"},
      {"GroupField", valid + varint(7 << 3 | 3), "a field of wire type 3"},
      {"FieldNumberZero", valid + number_field(0, 1), "a field number out of range"},
      {"FieldNumberTooLarge", valid + number_field(1u << 29, 1), "a field number out of range"},
      {"LengthPastTheEnd", valid + varint(1 << 3 | 2) + varint(~0ull), "a field of 18446744073709551615 bytes"},
      {"EndlessNumber", valid + varint(9 << 3) + std::string(11, '\x80'), "a number of more than ten bytes"},
      {"EmptyPiece", valid + piece(""), "piece 5 has 0 bytes, expected 1 to 1024"},
      {"PieceWithoutText", valid + bytes_field(1, float_field(2, 1)), "piece 5 has 0 bytes"},
      {"LongPiece", valid + piece(std::string(1025, 'a')), "piece 5 has 1025 bytes, expected 1 to 1024"},
      {"LongPieceHiddenByAnotherField",
       valid + bytes_field(1, bytes_field(1, std::string(9999, 'a')) + float_field(1, 1)), "piece 5 has 9999 bytes"},
      {"PieceNotUtf8", valid + piece("\xE2\x96"), "piece 5 is not UTF-8"},
      {"PieceWithZeroByte", valid + piece(std::string("a\0b", 3)), "piece 5 is not UTF-8 without NUL"},
      {"ScoreNotANumber", valid + piece("c", std::numeric_limits<float>::quiet_NaN()), "piece 5 has the score nan"},
      {"ScoreInfinite", valid + piece("c", std::numeric_limits<float>::infinity()), "piece 5 has the score inf"},
      {"NestedUserPieces", nested, "more than 64 user-defined pieces that begin each other"},
      {"UserPieceByOverflowingType",
       [&] {
         std::string model = valid;
         for (std::size_t i = 1; i <= 65; ++i) {
           model += bytes_field(1, bytes_field(1, std::string(i, 'u')) + number_field(3, (1ull << 32) + kUserDefined));
         }
         return model;
       }(),
       "more than 64 user-defined pieces"},
      {"TooManyPieces", many, "more than 1000000 pieces"},
      {"LongUnknownSurface", valid + bytes_field(2, bytes_field(44, std::string(257, 'x'))),
       "an unk_surface of 257 bytes"},
      {"HugeSelfTest", valid + bytes_field(4, std::string((4u << 20) + 1, 'x')), "field 4 of 4194305 bytes"},
      {"HugeTable", with_table(std::string(4u << 20, 'x')), "field 3 of"},
  };
}

std::vector<BadModel> bad_tables() {
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
      {"WithoutSize", with_table("abc"), "a normalisation table without a size"},
      {"Cut", with_table(table.substr(0, 1000)), "a trie of 3072 bytes in a table of 996"},
      {"SizeReachesIntoTheSize", with_table(table.substr(0, 3074)), "a trie of 3072 bytes in a table of 3070"},
      {"EmptyTrie", with_table(std::string(4, '\0') + replacement), "leads outside"},
      {"PartOfABlock", with_table(std::string("\4\0\0\0", 4) + std::string(4, '\0') + replacement),
       "a trie of 4 bytes"},
      {"NoReplacements", with_table(ChainTrie(1).table("")), "a replacement text without an end"},
      {"OpenReplacement", with_table(ChainTrie(1).table("b")), "a replacement text without an end"},
      {"ReplacementNotUtf8", with_table(ChainTrie(1).table("\xFF" + end)), "a replacement text that is not UTF-8"},
      {"LongReplacement", with_table(ChainTrie(1).table(std::string(257, 'b') + end)),
       "a replacement text of 257 bytes"},
      {"ReplacementOutside", with_table(beyond.table(replacement)), "a replacement text at 2 of 2"},
      {"ReplacementWithinACharacter", with_table(middle.table("é" + end)), "a replacement text at 1 of 3"},
      {"Cycle", with_table(cycle.table(replacement)), "a cycle"},
      {"CycleOfOne", with_table(self.table(replacement)), "a cycle"},
      {"ChildOutside", with_table(outside.table(replacement)), "leads outside of itself"},
      {"RootOutside", with_table(root_outside.table(replacement)), "leads outside of itself"},
      {"TooManyMatches", with_table(ChainTrie(33).table(replacement)), "too many matches on one path"},
      {"InTheDenormaliser", small_model() + bytes_field(5, bytes_field(2, "abc")),
       "a normalisation table without a size"},
      {"InTheFirstOfTwo", small_model() + normalizer("abc") + normalizer(table),
       "a normalisation table without a size"},
  };
}

class BadModels : public testing::TestWithParam<BadModel> {};

TEST_P(BadModels, AreRefusedByName) {
  EXPECT_THAT(error_of(GetParam().bytes), HasSubstr("x.spm: not a sentencepiece model: "));
  EXPECT_THAT(error_of(GetParam().bytes), HasSubstr(GetParam().message));
}

const auto kNameOfModel = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Pieces, BadModels, testing::ValuesIn(bad_pieces()), kNameOfModel);
INSTANTIATE_TEST_SUITE_P(Tables, BadModels, testing::ValuesIn(bad_tables()), kNameOfModel);

TEST(SentencePieceCheck, TakesModelsAtItsLimits) {
  std::string model = small_model() + piece(std::string(1024, 'a'));
  for (std::size_t i = 1; i <= 64; ++i) model += piece(std::string(i, 'u'), 0, kUserDefined);
  model += normalizer(ChainTrie(32).table(std::string(256, 'b') + '\0'));
  const SentencePieceModel loaded(model, "x.spm");
  const auto pieces = loaded.encode(std::string(64, 'u') + std::string(40, 'a'));
  EXPECT_EQ(pieces.at(1), std::string(64, 'u'));
  EXPECT_EQ(pieces.size(), 2u + 2 * 256);  // 32 and 8 times "a" match
}

// Text that follows every path of the trie, were it to lead anywhere bad.
void use(const SentencePieceModel& model) {
  std::mt19937 bits(7);
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(bits() % 128);
  for (const char* word : {"ａｂｃ", "ﬁ", "½", "한글", "   ", "▁", "é", "\u0301", "👍"}) text += word;
  try {
    const auto pieces = model.encode(text);
    model.decode(pieces);
  } catch (const TokenizerError&) {  // a model may fail to cut a text
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
