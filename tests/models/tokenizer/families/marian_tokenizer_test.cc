#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "encdec/models/tokenizer/load_tokenizer.h"
#include "tests/models/tokenizer/sentencepiece/sentencepiece_writer.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

// Small models written by the tests: the source side knows a, b and ▁a, the target side x and y.
class MarianFiles : public testing::Test {
 protected:
  MarianFiles() { write_files(); }

  void write_files() const {
    using namespace test;
    folder_.write("source.spm", unknown_piece() + piece("▁a") + piece("a", -2) + piece("b") + piece("▁", -3));
    folder_.write("target.spm", unknown_piece() + piece("▁x") + piece("x", -2) + piece("y") + piece("▁", -3));
    folder_.write(
        "vocab.json",
        R"({"</s>": 0, "<unk>": 1, "▁a": 2, "a": 3, "▁": 4, "x": 5, "▁x": 6, "y": 7, ">>fra<<": 8, "<pad>": 9})");
    config("{}");
  }
  std::unique_ptr<Tokenizer> load() const { return load_tokenizer(folder_.path(), "marian"); }
  void config(std::string_view json) const { folder_.write("tokenizer_config.json", json); }
  std::string error() const {
    return refusal_of<Error>(folder_.path().string(), [&] { load(); });
  }

  const TempFolder folder_;
};

TEST_F(MarianFiles, EachSideHasItsSentencePieceModel) {
  const auto tokenizer = load();
  EXPECT_THAT(tokenizer->encode("aa x"), ElementsAre(2, 3, 4, 5, 0));
  EXPECT_THAT(tokenizer->encode_target("aa x"), ElementsAre(4, 1, 6, 0));  // "aa" is one unknown piece
  EXPECT_THAT(tokenizer->encode("b"), ElementsAre(4, 1, 0));  // source.spm has this piece, but vocab.json does not
  EXPECT_THAT(tokenizer->encode(""), ElementsAre(0));
}

TEST_F(MarianFiles, LanguageCodesAreOnePiece) {
  const auto tokenizer = load();
  EXPECT_THAT(tokenizer->encode(">>fra<<a"), ElementsAre(8, 2, 0));
  EXPECT_THAT(tokenizer->encode(">>fra<< a"), ElementsAre(8, 2, 0));
  EXPECT_THAT(tokenizer->encode(">>fra<<"), ElementsAre(8, 0));
  EXPECT_THAT(tokenizer->encode(">>a a<< a"), ElementsAre(1, 2, 0));
  EXPECT_THAT(tokenizer->encode(">><<a"), ElementsAre(1, 2, 0));
  EXPECT_THAT(tokenizer->encode(">>fra< a"), ElementsAre(4, 1, 3, 1, 2, 0));
  EXPECT_THAT(tokenizer->encode(" >>fra<<a"), ElementsAre(4, 1, 3, 1, 3, 0));  // not at the start
  EXPECT_THAT(tokenizer->encode("</s>>>fra<<a"), ElementsAre(0, 8, 2, 0));     // the code may follow a special token
  EXPECT_THAT(tokenizer->encode_target(">>fra<<x"), ElementsAre(8, 6, 0));
}

TEST_F(MarianFiles, SpecialTokensInTheTextAreTokens) {
  const auto tokenizer = load();
  EXPECT_THAT(tokenizer->encode("a</s>a"), ElementsAre(2, 0, 2, 0));
  EXPECT_THAT(tokenizer->encode("a <pad> <unk></s>"), ElementsAre(2, 9, 1, 0, 0));
  config(R"({"split_special_tokens": true})");
  // Adjacent unknown characters are one piece, which is looked up by its text.
  EXPECT_THAT(load()->encode("a</s>a"), ElementsAre(2, 0, 3, 0));
}

TEST_F(MarianFiles, DecodingLeavesOutSpecialTokens) {
  const auto tokenizer = load();
  EXPECT_EQ(tokenizer->decode(Ids{9, 2, 3, 1, 2, 5, 0}), "aa ax");
  EXPECT_EQ(tokenizer->decode(Ids{8, 2}), ">>fra<< a");
  EXPECT_EQ(tokenizer->decode(Ids{}), "");
  EXPECT_EQ(tokenizer->decode(Ids{4, 4, 0}), "");
}

TEST_F(MarianFiles, SpacesAreCleanedUpOnlyIfConfigured) {
  folder_.write("vocab.json", R"({"</s>": 0, "<unk>": 1, "▁a": 2, "▁.": 3, "▁'": 4, "▁n't": 5, "<pad>": 6})");
  EXPECT_EQ(load()->decode(Ids{2, 3, 2, 4, 2, 5}), "a . a ' a n't");
  config(R"({"clean_up_tokenization_spaces": true})");
  EXPECT_EQ(load()->decode(Ids{2, 3, 2, 4, 2, 5}), "a. a'an't");
}

TEST_F(MarianFiles, SidesMayHaveSeparateVocabularies) {
  folder_.write("target_vocab.json", R"({"<unk>": 0, "</s>": 1, "▁x": 2, "y": 3, "▁": 4, "<pad>": 8, "x": 9})");
  config(R"({"separate_vocabs": true})");
  const auto tokenizer = load();
  EXPECT_THAT(tokenizer->encode("a"), ElementsAre(2, 0));
  EXPECT_THAT(tokenizer->encode_target("xy z"), ElementsAre(2, 3, 4, 0, 0));  // special tokens have the source's ids
  EXPECT_EQ(tokenizer->decode(Ids{2, 3, 2}), "xy x");
  EXPECT_EQ(tokenizer->decode(Ids{2, 9, 2}), "x x");       // 9 is the <pad> of the source vocabulary
  EXPECT_EQ(tokenizer->decode(Ids{2, 8, 2}), "x<pad> x");  // 8 is a piece of the target vocabulary with the same text
  EXPECT_THAT(tokenizer->pieces(Ids{2, 0}, TextSide::source), ElementsAre("▁a", "</s>"));
  EXPECT_THAT(tokenizer->pieces(Ids{2, 0}, TextSide::target), ElementsAre("▁x", "</s>"));
}

TEST_F(MarianFiles, ATargetVocabularyWithoutUnknownTokenCannotEncodeEverything) {
  folder_.write("target_vocab.json", R"({"▁x": 2, "y": 3})");
  config(R"({"separate_vocabs": true})");
  EXPECT_THAT(load()->encode_target("xy"), ElementsAre(2, 3, 0));
  EXPECT_THROW(load()->encode_target("z"), TokenizerError);
}

TEST_F(MarianFiles, IdsOutsideTheVocabularyAreNamed) {
  const auto tokenizer = load();
  EXPECT_THAT(tokenizer->pieces(Ids{8, 2, 1, 0}, TextSide::source), ElementsAre(">>fra<<", "▁a", "<unk>", "</s>"));
  for (const std::int32_t id : {-1, 10, 1'000'000, std::numeric_limits<std::int32_t>::min()}) {
    const Ids ids = {2, id};
    EXPECT_THAT(message_of<InputError>([&] { tokenizer->decode(ids); }),
                HasSubstr("token id " + std::to_string(id) + " is not in the target vocabulary"));
    EXPECT_THROW(tokenizer->pieces(ids, TextSide::source), InputError);
  }
}

TEST_F(MarianFiles, AnIdMissingFromTheVocabularyIsThePieceOfTheSentencePieceModel) {
  folder_.write("vocab.json", R"({"</s>": 0, "<unk>": 7, "<pad>": 8})");
  EXPECT_EQ(load()->decode(Ids{1, 3}), "ab");  // as in transformers
}

TEST_F(MarianFiles, TextMustBeUtf8AndMayHoldZeroBytes) {
  const auto tokenizer = load();
  for (const char* text : {"aa\xFF", ">>\xE2\x96<<", "</s>\xC3"}) {
    EXPECT_THROW(tokenizer->encode(text), TokenizerError);
    EXPECT_THROW(tokenizer->encode_target(text), TokenizerError);
  }
  EXPECT_THAT(tokenizer->encode(std::string_view("a\0a", 3)), ElementsAre(2, 1, 3, 0));
}

TEST_F(MarianFiles, EachOfTheThreeFilesIsRequiredIfOneExists) {
  for (const char* file : {"source.spm", "target.spm", "vocab.json"}) {
    std::filesystem::rename(folder_ / file, folder_ / "away");
    EXPECT_EQ(error(), folder_.path().string() + ": no " + file + ", expected source.spm, target.spm, vocab.json");
    std::filesystem::rename(folder_ / "away", folder_ / file);
  }
}

TEST_F(MarianFiles, DamagedFilesAreRefusedByName) {
  const char* const kConfig = "tokenizer_config.json";
  const struct {
    const char* file;
    const char* content;
    const char* found;
  } kCases[] = {{"target.spm", "no model", "/target.spm: "},
                {kConfig, R"({"separate_vocabs": 3})", "/tokenizer_config.json: "},
                {kConfig, R"({"separate_vocabs": true})", "/target_vocab.json: No such file"},
                {kConfig, R"({"eos_token": null})", ": there is no eos_token"},
                {kConfig, R"({"eos_token": ""})", ": the eos_token is empty"},
                {"vocab.json", R"({"</s>": 0})", ": the vocabulary has no unk_token '<unk>'"}};
  for (const auto& [file, content, found] : kCases) {
    write_files();
    folder_.write(file, content);
    EXPECT_THAT(error(), HasSubstr(found)) << content;
  }
  config(R"({"unk_token": "</s>"})");
  EXPECT_EQ(error(), "no exception");
}

}  // namespace
}  // namespace encdec
