#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/families/slow_families.h"
#include "tests/models/tokenizer/sentencepiece/sentencepiece_writer.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

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
    try {
      load(decoder);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  TempFolder folder_;
};

TEST_F(MarianRelease, WithSentencepieceEncodesText) {
  const std::string model = unknown_piece() + piece("▁a") + piece("a", -2) + piece("b") + piece("▁", -3);
  folder_.write("source.spm", model);
  EXPECT_THAT(error(R"({"vocabs": ["vocab.yml", "vocab.yml"]})"), HasSubstr("no target.spm, expected source.spm and"));
  folder_.write("target.spm", model);
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
  EXPECT_THAT(error("{}"), HasSubstr("decoder.yml: vocabs is missing"));
  EXPECT_THAT(error("[]"), HasSubstr("decoder.yml"));
  EXPECT_THAT(error(R"({"vocabs": "vocab.yml"})"), HasSubstr("vocabs is string"));
  EXPECT_THAT(error(R"({"vocabs": ["vocab.yml"]})"), HasSubstr("vocabs is a list of 1"));
  EXPECT_THAT(error(R"({"vocabs": ["vocab.yml", 1]})"), HasSubstr("vocabs has a number"));
  EXPECT_THAT(error(R"({"vocabs": ["vocab.yml", "no.yml"]})"), HasSubstr("no.yml"));
  for (const auto& [content, found] : std::vector<std::pair<const char*, const char*>>{
           {"[]", "array, expected an object of pieces and ids"},
           {R"({"a": "b"})", "'a' is string, expected an id"},
           {R"({"a": -1})", "'a' is -1, expected an id"},
           {R"({"a": 1.5})", "'a' is 1.5, expected an id"},
           {R"({"a": 10000000})", "'a' is 10000000, expected an id"},
           {R"({"a": 0, "b": 0})", "both have the id 0"},
           {R"({"a": 0, "b": 9})", "'b' has the id 9, expected one below the number of pieces, 2"},
       }) {
    folder_.write("vocab.yml", content);
    EXPECT_THAT(error(R"({"vocabs": ["vocab.yml", "vocab.yml"]})"),
                testing::AllOf(HasSubstr("vocab.yml: "), HasSubstr(found)));
  }
}

}  // namespace
}  // namespace encdec
