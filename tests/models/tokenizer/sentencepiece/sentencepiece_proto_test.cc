#include "encdec/models/tokenizer/sentencepiece/sentencepiece_proto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "encdec/engine/base/error.h"
#include "tests/models/tokenizer/sentencepiece/sentencepiece_writer.h"

namespace encdec {
namespace {

using testing::HasSubstr;
using namespace test;

std::string proto_error(const std::string& bytes) {
  try {
    SentencePieceProto::parse(bytes, "x.spm");
  } catch (const TokenizerError& error) {
    return error.what();
  }
  return "no error";
}

TEST(SentencePieceProto, ReturnsWhatTheFileContains) {
  const auto proto = SentencePieceProto::parse(
      small_model() + piece("u", 0, kUserDefined) +
          bytes_field(2, number_field(3, 2) + number_field(24, 1) + number_field(35, 1) + bytes_field(44, " ? ")) +
          bytes_field(3, number_field(3, 0) + number_field(4, 0) + number_field(5, 0)) +
          bytes_field(4, bytes_field(1, bytes_field(1, "a b") + bytes_field(2, "▁a ▁b"))) +
          bytes_field(5, bytes_field(2, ChainTrie(1).table(std::string("b\0", 2))) + number_field(4, 0)),
      "x.spm");
  ASSERT_EQ(proto.pieces.size(), 6u);
  EXPECT_EQ(proto.pieces[2].text, "a");
  EXPECT_EQ(proto.pieces[2].score, -2);
  EXPECT_EQ(proto.pieces[0].type, SentencePieceProto::PieceType::unknown);
  EXPECT_EQ(proto.pieces[5].type, SentencePieceProto::PieceType::user_defined);
  EXPECT_EQ(proto.model_type, SentencePieceProto::ModelType::bpe);
  EXPECT_TRUE(proto.byte_fallback && proto.normalizer.space_is_suffix);
  EXPECT_EQ(proto.unknown_surface, " ? ");
  const auto& rules = proto.normalizer;
  EXPECT_FALSE(rules.table || rules.add_dummy_prefix || rules.remove_extra_spaces || rules.escape_spaces);
  EXPECT_TRUE(proto.denormalizer.table && proto.denormalizer.add_dummy_prefix);
  EXPECT_FALSE(proto.denormalizer.remove_extra_spaces);
  ASSERT_EQ(proto.samples.size(), 1u);
  EXPECT_EQ(proto.samples[0].expected, "▁a ▁b");
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
  std::string samples;
  for (int i = 0; i <= 100'000; ++i) samples += bytes_field(1, "");
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
      {"UnknownPieceType", valid + bytes_field(1, bytes_field(1, "x") + number_field(3, 9)), "a piece's type is 9"},
      {"PieceTypeThatOverflows", valid + bytes_field(1, bytes_field(1, "x") + number_field(3, (1ull << 32) + 4)),
       "a piece's type is 4294967300"},
      {"UnknownModelType", valid + bytes_field(2, number_field(3, 5)), "the model's type is 5"},
      {"ModelTypeZero", valid + bytes_field(2, number_field(3, 0)), "the model's type is 0"},
      {"TooManyPieces", many, "more than 1000000 pieces"},
      {"LongUnknownSurface", valid + bytes_field(2, bytes_field(44, std::string(257, 'x'))),
       "an unk_surface of 257 bytes"},
      {"HugeSelfTest", valid + bytes_field(4, std::string((4u << 20) + 1, 'x')), "field 4 of 4194305 bytes"},
      {"TooManySamples", valid + bytes_field(4, samples), "more than 100000 samples"},
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
      {"WithoutSize", with_table("abc"), "a normalisation table with 3 bytes"},
      {"Cut", with_table(table.substr(0, 1000)), "a trie of 3072 bytes in a table of 996"},
      {"SizeReachesIntoTheSize", with_table(table.substr(0, 3074)), "a trie of 3072 bytes in a table of 3070"},
      {"EmptyTrie", with_table(std::string(4, '\0') + replacement), "leads outside"},
      {"PartOfABlock", with_table(std::string("\4\0\0\0", 4) + std::string(4, '\0') + replacement),
       "a trie of 1 units"},
      {"NoReplacements", with_table(ChainTrie(1).table("")), "a replacement without an end"},
      {"OpenReplacement", with_table(ChainTrie(1).table("b")), "a replacement without an end"},
      {"ReplacementNotUtf8", with_table(ChainTrie(1).table("\xFF" + end)), "replacements that are not UTF-8"},
      {"LongReplacement", with_table(ChainTrie(1).table(std::string(257, 'b') + end)), "a replacement of 257 bytes"},
      {"ReplacementOutside", with_table(beyond.table(replacement)), "a replacement at 2 of 2"},
      {"ReplacementWithinACharacter", with_table(middle.table("é" + end)), "a replacement at 1 of 3"},
      {"Cycle", with_table(cycle.table(replacement)), "a cycle"},
      {"CycleOfOne", with_table(self.table(replacement)), "a cycle"},
      {"ChildOutside", with_table(outside.table(replacement)), "leads outside of itself"},
      {"RootOutside", with_table(root_outside.table(replacement)), "leads outside of itself"},
      {"InTheDenormaliser", small_model() + bytes_field(5, bytes_field(2, "abc")),
       "a normalisation table with 3 bytes"},
      {"InTheFirstOfTwo", small_model() + normalizer("abc") + normalizer(table), "a normalisation table with 3 bytes"},
  };
}

class BadModels : public testing::TestWithParam<BadModel> {};

TEST_P(BadModels, AreRefusedByName) {
  EXPECT_THAT(proto_error(GetParam().bytes), HasSubstr("x.spm: not a sentencepiece model: "));
  EXPECT_THAT(proto_error(GetParam().bytes), HasSubstr(GetParam().message));
}

const auto kNameOfModel = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Pieces, BadModels, testing::ValuesIn(bad_pieces()), kNameOfModel);
INSTANTIATE_TEST_SUITE_P(Tables, BadModels, testing::ValuesIn(bad_tables()), kNameOfModel);

}  // namespace
}  // namespace encdec
