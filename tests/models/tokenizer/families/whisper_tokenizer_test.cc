#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/models/tokenizer/families/plain_tokenizer.h"
#include "encdec/models/tokenizer/pipeline/characters.h"
#include "tests/models/tokenizer/golden_tokenizers.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

const std::filesystem::path kCTranslate2 = kGoldenFolder / "whisper_formats" / "ctranslate2" / "int8";

// Returns the tokenizer of a vocabulary with all bytes, whose ids are their values, followed by `pieces`.
std::unique_ptr<Tokenizer> with_all_bytes(const std::vector<std::string>& pieces) {
  std::vector<std::string> all;
  for (int byte = 0; byte < 256; ++byte) all.emplace_back(byte_character(static_cast<std::uint8_t>(byte)));
  all.insert(all.end(), pieces.begin(), pieces.end());
  return whisper_tokenizer(PieceList(std::move(all)), "file");
}

// Ranks are the ids of pieces. Merging by rank gives the same ids as a list of merges.
TEST(WhisperTokenizer, RanksGiveTheSameIdsAsMerges) {
  const auto merges = golden_tokenizer("tokenizer_native/whisper");
  const Vocabulary vocabulary = Vocabulary::read(golden_folder("tokenizer_native/whisper") / "vocab.json");
  std::vector<std::string> pieces(vocabulary.size());
  for (const Vocabulary::Entry& entry : vocabulary.entries()) {
    pieces[static_cast<std::size_t>(entry.id)] = entry.piece();
  }
  pieces.emplace_back("<|startoftranscript|>");
  const auto ranks = whisper_tokenizer(PieceList(pieces), "file");
  ASSERT_NE(ranks, nullptr);
  for (const std::string& text : golden_texts("tokenizer_native")) {
    EXPECT_EQ(encode_target_part(*ranks, text), encode_target_part(*merges, text)) << text;
  }
}

TEST(WhisperTokenizer, IsTheSameInEveryFormat) {
  const auto expected = golden_tokenizer("whisper_formats/hugging_face");
  const Ids tokens = expected->encode(" Hello, wörld", {.target_language = "French"});
  EXPECT_EQ(expected->pieces(tokens, TextSide::target).front(), "<|startoftranscript|>");
  const auto tokenizer = load_tokenizer(kCTranslate2, "whisper");
  EXPECT_EQ(tokenizer->kind(), "byte-level BPE");
  EXPECT_EQ(tokenizer->encode(" Hello, wörld", {.target_language = "French"}), tokens);
  EXPECT_EQ(tokenizer->languages(), expected->languages());
  for (std::int32_t id = 0; id < 287 + 107 + 21; ++id) {
    EXPECT_EQ(tokenizer->piece(id, TextSide::target), expected->piece(id, TextSide::target));
    EXPECT_EQ(tokenizer->decode(Ids{id}), expected->decode(Ids{id}));
  }
  EXPECT_EQ(tokenizer->token_id("<|0.40|>"), 287 + 107 + 20);
  EXPECT_THROW(tokenizer->piece(287 + 107 + 21, TextSide::target), InputError);
}

TEST(WhisperTokenizer, LanguagesHaveCodesAndNames) {
  const auto tokenizer = load_tokenizer(kCTranslate2, "whisper");
  EXPECT_EQ(tokenizer->languages().size(), 99u);
  EXPECT_EQ(tokenizer->language_token("fr"), 287 + 2 + 6);
  const auto second = [&](const EncodeOptions& options) {
    return std::string(tokenizer->piece(tokenizer->encode("a", options)[1], TextSide::target));
  };
  EXPECT_EQ(second({}), "<|notimestamps|>");
  EXPECT_EQ(second({.source_language = "FR"}), "<|fr|>");
  EXPECT_EQ(second({.source_language = "fr", .target_language = "castilian"}), "<|es|>");
  EXPECT_THROW(second({.target_language = "klingon"}), InputError);
  EXPECT_THROW(second({.target_language = "yue"}), InputError);
}

TEST(WhisperTokenizer, TimesAreNotText) {
  const auto tokenizer = golden_tokenizer("tokenizer_native/whisper_saved");
  const Ids ids = {*tokenizer->token_id("<|0.00|>"), *tokenizer->token_id("a"), *tokenizer->token_id("<|0.98|>")};
  EXPECT_EQ(tokenizer->decode(ids), "a");
}

TEST(WhisperTokenizer, HebrewHasAnotherNameInTheFirstCheckpoints) {
  const auto tokenizer = with_all_bytes({"<|endoftext|>", "<|startoftranscript|>", "<|iw|>"});
  EXPECT_THAT(tokenizer->languages(), ElementsAre("he"));
  EXPECT_THAT(tokenizer->encode("a", {.target_language = "hebrew"}), ElementsAre(257, 258, 'a', 256));
}

TEST(WhisperTokenizer, RefusesImpossibleVocabularies) {
  const auto refusal = [](std::vector<std::string> pieces, const std::vector<std::string>& special) {
    pieces.insert(pieces.end(), {"<|endoftext|>", "<|startoftranscript|>"});
    pieces.insert(pieces.end(), special.begin(), special.end());
    return refusal_of<TokenizerError>("file: ", [&] { with_all_bytes(pieces); });
  };
  EXPECT_EQ(refusal({}, {}), "no exception");
  EXPECT_THAT(refusal({"ab", "ab"}, {}), HasSubstr("'ab' is there twice"));
  EXPECT_THAT(refusal({"ab"}, {"ab"}), HasSubstr("special token 'ab', expected names that differ"));
  EXPECT_THAT(refusal({}, {"x1", "x1"}), HasSubstr("special token 'x1'"));
  EXPECT_THAT(refusal({}, {""}), HasSubstr("special token ''"));
}

TEST(WhisperTokenizer, OtherVocabulariesOfCTranslate2AreNotWhispers) {
  const auto is_whisper = [](std::vector<std::string> pieces) {
    return whisper_tokenizer(PieceList(std::move(pieces)), "file") != nullptr;
  };
  EXPECT_FALSE(is_whisper({"a", "</s>"}));
  EXPECT_FALSE(is_whisper({"a", "<|endoftext|>", "b", "<|startoftranscript|>"}));
  EXPECT_FALSE(is_whisper({"▁a", "<|endoftext|>", "<|startoftranscript|>"}));
  EXPECT_THAT(refusal_of<TokenizerError>("file: ",
                                         [&] {
                                           is_whisper({"Ġa", "<|endoftext|>", "<|startoftranscript|>"});
                                         }),
              HasSubstr("no token for the byte 0x00"));
}

TEST(WhisperTokenizer, AVocabularyFileHasOnePiecePerLine) {
  const TempFolder folder;
  std::string lines;
  for (const auto& piece : read_json(kCTranslate2 / "vocabulary.json")) {
    lines += piece.get<std::string>() + "\n";
  }
  folder.write("vocabulary.txt", lines);
  EXPECT_EQ(load_tokenizer(folder.path(), "")->kind(), "byte-level BPE");
  EXPECT_EQ(load_tokenizer(folder.path(), "whisper")->token_id("<|0.40|>"), 414);
}

}  // namespace
}  // namespace encdec
