#include "encdec/models/tokenizer/phrase.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "encdec/models/checkpoint/json.h"

namespace encdec {
namespace {

using Ids = std::vector<std::int32_t>;
namespace fs = std::filesystem;

class Phrase : public testing::TestWithParam<std::string> {
 protected:
  Ids encode(std::string_view phrase, PhrasePlace place) const {
    return encode_phrase(*tokenizer_, phrase, place, languages_);
  }

  const fs::path folder_ = fs::path(ENCDEC_GOLDEN_DIR) / "tokenizer_native" / GetParam();
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

// Its ids and nothing else, so that it stands for the phrase wherever that is generated.
TEST_P(Phrase, IsAPartOfTheTarget) {
  const auto contains = [](const Ids& whole, const Ids& part) {
    return !part.empty() && std::search(whole.begin(), whole.end(), part.begin(), part.end()) != whole.end();
  };
  const Ids whole = tokenizer_->encode_target("the cat and the dog", languages_);
  EXPECT_TRUE(contains(whole, encode("the cat", PhrasePlace::at_start)));
  EXPECT_TRUE(contains(whole, encode("the dog", PhrasePlace::after_space)));
  EXPECT_TRUE(contains(whole, encode("dog", PhrasePlace::after_space)));
}

TEST_P(Phrase, HasNoSpecialTokens) {
  for (const PhrasePlace place : {PhrasePlace::at_start, PhrasePlace::after_space}) {
    const Ids ids = encode("cat", place);
    std::string pieces;
    for (const std::string& piece : tokenizer_->pieces(ids, TextSide::target)) pieces += piece;
    EXPECT_EQ(pieces.find_first_of("<>["), std::string::npos) << pieces;
    EXPECT_EQ(encode("", PhrasePlace::at_start), Ids());
  }
}

TEST(PhraseOfByteLevelPieces, DependsOnTheSpaceBefore) {
  const auto tokenizer = load_tokenizer(fs::path(ENCDEC_GOLDEN_DIR) / "tokenizer_native" / "gpt2", "gpt2");
  EXPECT_EQ(encode_phrase(*tokenizer, "the", PhrasePlace::at_start), tokenizer->encode("the"));
  EXPECT_EQ(encode_phrase(*tokenizer, "the", PhrasePlace::after_space), tokenizer->encode(" the"));
  EXPECT_NE(tokenizer->encode("the"), tokenizer->encode(" the"));
}

}  // namespace
}  // namespace encdec
