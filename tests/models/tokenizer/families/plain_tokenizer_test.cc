#include "encdec/models/tokenizer/families/plain_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

class PlainTokenizerTest : public testing::Test {
 protected:
  std::unique_ptr<Tokenizer> load() const { return load_ctranslate2_tokenizer(folder_.path()); }
  std::string error() const {
    return message_of([&] { load(); });
  }

  TempFolder folder_;
};

TEST_F(PlainTokenizerTest, LinesAreTokensBetweenSpaces) {
  folder_.write("shared_vocabulary.json", R"(["<blank>", "<unk>", "<s>", "</s>", "▁a", "b"])");
  const auto tokenizer = load();
  EXPECT_THAT(tokenizer->encode(" ▁a  b\tnew b "), ElementsAre(4, 5, 1, 5));
  EXPECT_THAT(tokenizer->encode_target("b ▁a"), ElementsAre(5, 4, 3));
  EXPECT_EQ(tokenizer->decode(Ids{2, 4, 5, 1, 3}), "▁a b <unk>");
  EXPECT_THAT(tokenizer->pieces(Ids{2, 5}, TextSide::source), ElementsAre("<s>", "b"));
  EXPECT_EQ(tokenizer->token_id("b"), 5);
  EXPECT_THAT(tokenizer->encode(""), ElementsAre());
}

TEST_F(PlainTokenizerTest, TheConfigSaysWhatSurroundsASource) {
  folder_.write("vocabulary.txt", "UNK\nBOS\nEOS\na\n");
  folder_.write("config.json", R"({"unk_token": "UNK", "bos_token": "BOS", "eos_token": "EOS", "add_source_bos": true,
                                   "add_source_eos": true, "decoder_start_token": "EOS"})");
  const auto tokenizer = load();
  EXPECT_THAT(tokenizer->encode("a x a"), ElementsAre(1, 3, 0, 3, 2));
  EXPECT_THAT(tokenizer->encode("a a a a", {.max_length = 3}), ElementsAre(1, 3, 2));
  EXPECT_THAT(tokenizer->encode_target("a a a", {.max_length = 2}), ElementsAre(3, 2));
}

// Returns a model.bin of version 5 with only two settings: the name of the unknown token, and an end token for sources.
std::string old_model(const std::string& unknown) {
  const auto number = [](std::size_t value, std::size_t bytes) {
    std::string text(bytes, '\0');
    text[0] = static_cast<char>(value);
    return text;
  };
  const auto name = [&](const std::string& text) { return number(text.size() + 1, 2) + text + '\0'; };
  return number(5, 4) + name("TransformerSpec") + number(4, 4) + number(2, 4) +  //
         name("unk_token") + number(1, 1) + number(unknown.size(), 4) + number(1, 1) + number(unknown.size(), 4) +
         unknown + name("with_source_eos") + number(0, 1) + number(1, 1) + number(1, 4) + number(1, 1) + number(0, 4);
}

TEST_F(PlainTokenizerTest, OldModelsStoreTheseSettingsThemselves) {
  folder_.write("shared_vocabulary.txt", "</s>\nUNK\na\n");
  folder_.write("model.bin", old_model("UNK"));
  EXPECT_THAT(load()->encode("a x"), ElementsAre(2, 1, 0));
  folder_.write("config.json", R"({"unk_token": "a"})");
  EXPECT_THAT(load()->encode("a x"), ElementsAre(2, 1, 0)) << "old converters wrote no config.json";
  folder_.write("config.json", R"({"unk_token": "a", "model_type": "marian"})");
  EXPECT_THAT(load()->encode("a x"), ElementsAre(2, 2)) << "the model.bin belongs to something else";
}

TEST_F(PlainTokenizerTest, DamagedOldModelsAreRefused) {
  folder_.write("shared_vocabulary.txt", "a\n");
  folder_.write("model.bin", old_model("\xC3("));
  EXPECT_THAT(error(), HasSubstr("model.bin: unk_token"));
  EXPECT_THAT(error(), HasSubstr("is not valid UTF-8"));
  folder_.write("model.bin", old_model("UNK").substr(0, 40));
  EXPECT_THAT(error(), HasSubstr((folder_ / "model.bin").string()));
}

TEST_F(PlainTokenizerTest, ASharedVocabularyIsPreferred) {
  folder_.write("shared_vocabulary.txt", "<unk>\na\n");
  folder_.write("source_vocabulary.txt", "a\n<unk>\n");
  EXPECT_THAT(load()->encode("a"), ElementsAre(1));
}

TEST_F(PlainTokenizerTest, SidesMayHaveTheirOwnVocabularies) {
  folder_.write("source_vocabulary.txt", "<unk>\na\n");
  folder_.write("target_vocabulary.json", R"(["</s>", "x"])");
  const auto tokenizer = load();
  EXPECT_THAT(tokenizer->encode("a x"), ElementsAre(1, 0));
  EXPECT_THAT(tokenizer->encode_target("a x"), ElementsAre(2, 1, 0));  // an unknown token is added to the vocabulary
  EXPECT_EQ(tokenizer->decode(Ids{1, 2}), "x <unk>");
}

TEST_F(PlainTokenizerTest, TheFirstOfEqualPiecesWins) {
  folder_.write("shared_vocabulary.json", R"(["<unk>", "a", "b", "a"])");
  const auto tokenizer = load();
  EXPECT_THAT(tokenizer->encode("a b"), ElementsAre(1, 2));
  EXPECT_EQ(tokenizer->decode(Ids{3}), "a");
}

TEST_F(PlainTokenizerTest, CarriageReturnsAreRemovedOnlyIfEveryLineHasOne) {
  folder_.write("shared_vocabulary.txt", "<unk>\r\na\r\n");
  EXPECT_THAT(load()->encode("a"), ElementsAre(1));
  folder_.write("shared_vocabulary.txt", "<unk>\na\r\n");
  EXPECT_THAT(load()->encode("a"), ElementsAre(0));
}

TEST_F(PlainTokenizerTest, IsNullWithoutAVocabulary) {
  EXPECT_EQ(load(), nullptr);
}

TEST_F(PlainTokenizerTest, RefusesUnknownIdsAndLanguages) {
  folder_.write("shared_vocabulary.txt", "<unk>\n");
  const auto tokenizer = load();
  EXPECT_THROW(tokenizer->decode(Ids{1}), InputError);
  EXPECT_THROW(tokenizer->decode(Ids{-1}), InputError);
  EXPECT_THROW(tokenizer->encode("a", {.target_language = "fr"}), InputError);
  EXPECT_THROW(tokenizer->encode("\xFF"), TokenizerError);
}

TEST_F(PlainTokenizerTest, RefusesDamagedFilesByName) {
  folder_.write("source_vocabulary.txt", "a\n");
  EXPECT_THAT(error(), HasSubstr("no target_vocabulary, expected"));
  const struct {
    const char* file;
    const char* content;
    const char* found;
  } kCases[] = {{"target_vocabulary.json", "{}", "an object, expected a list of pieces"},
                {"target_vocabulary.json", "[\"a\", 1]", "item 1 is a number, expected a piece"},
                {"target_vocabulary.json", "[[\"a\"]]", "item 0 is a list, expected a piece"},
                {"target_vocabulary.json", "[\"a\"", "target_vocabulary.json"},
                {"source_vocabulary.txt", "a\n\xC3\n", "not valid UTF-8 at byte 2"}};
  for (const auto& [file, content, found] : kCases) {
    folder_.write("target_vocabulary.json", "[]");
    folder_.write(file, content);
    EXPECT_THAT(error(), testing::AllOf(HasSubstr((folder_ / file).string()), HasSubstr(found)));
  }
}

}  // namespace
}  // namespace encdec
