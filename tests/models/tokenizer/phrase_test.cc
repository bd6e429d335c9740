#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/load_tokenizer.h"
#include "tests/support/packed_folder.h"

namespace encdec {
namespace {

using Ids = std::vector<std::int32_t>;
namespace fs = std::filesystem;

class Phrase : public testing::TestWithParam<std::string> {
 protected:
  Ids after_space(std::string_view phrase) const { return encode_after_space(*tokenizer_, phrase, languages_); }
  Ids at_start(std::string_view phrase) const { return encode_target_part(*tokenizer_, phrase, languages_); }

  const fs::path folder_ = unpacked(fs::path(ENCDEC_GOLDEN_DIR) / "tokenizer_native" / GetParam());
  const std::unique_ptr<Tokenizer> tokenizer_ =
      load_tokenizer(folder_, read_json_object(folder_ / "config.json").string("model_type").value());
  const EncodeOptions languages_ = {.target_language =
                                        tokenizer_->languages().empty() ? "" : tokenizer_->languages().front()};
};

INSTANTIATE_TEST_SUITE_P(Tokenizers, Phrase,
                         testing::Values("bart", "bert_cased", "blenderbot", "blenderbot_small", "byt5", "gpt2",
                                         "m2m_100", "mbart", "mbart50", "nllb_saved", "pegasus", "plbart_base", "t5",
                                         "t5_bare", "umt5"),
                         [](const auto& test) { return test.param; });

// The ids of a phrase alone are part of the ids of any target that contains the phrase.
TEST_P(Phrase, IsAPartOfTheTarget) {
  const Ids whole = tokenizer_->encode_target("the cat and the dog", languages_);
  for (const Ids& part : {at_start("the cat"), after_space("the dog"), after_space("dog")}) {
    ASSERT_FALSE(part.empty());
    EXPECT_NE(std::search(whole.begin(), whole.end(), part.begin(), part.end()), whole.end())
        << testing::PrintToString(part);
  }
}

TEST_P(Phrase, HasNoSpecialTokens) {
  for (const Ids& ids : {at_start("cat"), after_space("cat")}) {
    std::string pieces;
    for (const std::string& piece : tokenizer_->pieces(ids, TextSide::target)) pieces += piece;
    EXPECT_EQ(pieces.find_first_of("<>["), std::string::npos) << pieces;
  }
  EXPECT_EQ(at_start(""), Ids());
}

TEST(PhraseOfByteLevelPieces, DependsOnTheSpaceBefore) {
  const auto tokenizer = load_tokenizer(unpacked(ENCDEC_GOLDEN_DIR "/tokenizer_native/gpt2"), "gpt2");
  EXPECT_EQ(encode_after_space(*tokenizer, "the"), tokenizer->encode(" the"));
  EXPECT_NE(tokenizer->encode("the"), tokenizer->encode(" the"));
}

}  // namespace
}  // namespace encdec
