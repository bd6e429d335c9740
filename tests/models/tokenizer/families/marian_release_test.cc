#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/models/tokenizer/families/slow_families.h"
#include "tests/models/tokenizer/sentencepiece/sentencepiece_writer.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;
using namespace test;

class MarianRelease : public testing::Test {
 protected:
  MarianRelease() {
    folder_.write("vocab.yml", R"({"</s>": 0, "<unk>": 1, "▁a": 2, "b": 3, ">>fra<<": 4})");
    folder_.write("other.json", R"({"</s>": 0, "<unk>": 1, "▁x": 2})");
  }

  std::unique_ptr<Tokenizer> load(const char* decoder) const {
    folder_.write("decoder.yml", decoder);
    return load_marian_release(folder_.path());
  }
  std::string error(const char* decoder) const {
    return message_of([&] { load(decoder); });
  }

  TempFolder folder_;
};

TEST_F(MarianRelease, WithSentencepieceEncodesText) {
  folder_.write("source.spm", small_model());
  EXPECT_THAT(error(R"({"vocabs": ["vocab.yml", "vocab.yml"]})"), HasSubstr("no target.spm, expected source.spm and"));
  folder_.write("target.spm", small_model());
  const auto tokenizer = load(R"({"vocabs": ["vocab.yml", "vocab.yml"]})");
  EXPECT_THAT(tokenizer->encode("ab a"), ElementsAre(2, 3, 2, 0));
  EXPECT_THAT(tokenizer->encode("ab", {.target_language = "fra"}), ElementsAre(4, 2, 3, 0));
  EXPECT_EQ(tokenizer->decode(Ids{2, 3, 0}), "ab");
  EXPECT_EQ(tokenizer->token_id("<pad>"), std::nullopt);
}

TEST_F(MarianRelease, WithoutSentencepieceExpectsTokens) {
  const auto tokenizer = load(R"({"vocabs": ["vocab.yml", "other.json"]})");
  EXPECT_THAT(tokenizer->encode("▁a b c"), ElementsAre(2, 3, 1, 0));
  EXPECT_THAT(tokenizer->encode_target("▁x b"), ElementsAre(2, 1, 0));
  EXPECT_EQ(tokenizer->decode(Ids{2, 0}), "▁x");
}

TEST_F(MarianRelease, RefusesNamesOutsideTheFolder) {
  for (const char* name : {"../vocab.yml", "/etc/passwd", "", "..", "a\\\\b", "a\\u0000b"}) {
    const std::string decoder = std::string(R"({"vocabs": [")") + name + "\", \"vocab.yml\"]}";
    EXPECT_THAT(error(decoder.c_str()), HasSubstr("expected the name of a file in this folder")) << name;
  }
}

TEST_F(MarianRelease, RefusesDamagedFilesByName) {
  using Cases = std::vector<std::pair<const char*, const char*>>;
  for (const auto& [decoder, found] : Cases{{"{}", "decoder.yml: vocabs is missing"},
                                            {"[]", "decoder.yml"},
                                            {R"({"vocabs": "vocab.yml"})", "vocabs is string"},
                                            {R"({"vocabs": ["vocab.yml"]})", "vocabs is a list of 1"},
                                            {R"({"vocabs": ["vocab.yml", 1]})", "vocabs has a number"},
                                            {R"({"vocabs": ["vocab.yml", "no.yml"]})", "no.yml"}}) {
    EXPECT_THAT(error(decoder), HasSubstr(found));
  }
  for (const auto& [content, found] : Cases{{"[]", "array, expected an object of pieces and ids"},
                                            {R"({"a": "b"})", "'a' is string, expected an id"},
                                            {R"({"a": -1})", "'a' is -1, expected an id"},
                                            {R"({"a": 1.5})", "'a' is 1.5, expected an id"},
                                            {R"({"a": 10000000})", "'a' is 10000000, expected an id"},
                                            {R"({"a": 0, "b": 0})", "both have the id 0"},
                                            {R"({"a": 0, "b": 9})", "'b' has the id 9, expected one below"}}) {
    folder_.write("vocab.yml", content);
    EXPECT_THAT(error(R"({"vocabs": ["vocab.yml", "vocab.yml"]})"), AllOf(HasSubstr("vocab.yml: "), HasSubstr(found)));
  }
}

}  // namespace
}  // namespace encdec
