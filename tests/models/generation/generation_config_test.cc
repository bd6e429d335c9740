#include "encdec/models/generation/generation_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/error.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

GenerationConfig read(const char* text) {
  TransformerConfig config;
  config.decoder.vocabulary = 100;
  config.decoder_start_token = 99;
  return read_generation_config(JsonObject(parse_json(text, "g.json"), "g.json"), config);
}

std::string failure(const char* text) {
  try {
    read(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(GenerationConfig, ReadsWhatAMarianFolderSays) {
  const auto config = read(R"({"max_length": 512, "eos_token_id": 0, "forced_eos_token_id": 0, "bad_words_ids": [[99]],
                               "decoder_start_token_id": 98, "num_beams": 4, "pad_token_id": 99})");
  EXPECT_EQ(config.new_token_limit(), 511);
  EXPECT_THAT(config.eos_tokens, ElementsAre(0));
  EXPECT_THAT(config.bad_words, ElementsAre(ElementsAre(99)));
  EXPECT_EQ(config.decoder_start_token, 98);
  EXPECT_THAT(config.unsupported, ElementsAre("num_beams 4"));
  EXPECT_EQ(config.forced_token(1, 510), 0);
  EXPECT_EQ(config.forced_token(1, 509), std::nullopt);
}

TEST(GenerationConfig, MaxNewTokensGoesBeforeMaxLengthAndTwentyIsTheDefault) {
  EXPECT_EQ(read(R"({"max_length": 10, "max_new_tokens": 3})").new_token_limit(), 3);
  EXPECT_EQ(read(R"({"max_length": 10})").new_token_limit(), 9);
  EXPECT_EQ(read("{}").new_token_limit(), 20);
  EXPECT_EQ(read(R"({"max_length": 10})").new_token_limit(4), 6) << "max_length counts the prompt";
  EXPECT_EQ(read(R"({"max_length": 10})").new_token_limit(10), 1);
  EXPECT_EQ(read("{}").new_token_limit(30), 20);
}

TEST(GenerationConfig, AForcedEndGoesBeforeAForcedBeginning) {
  const auto config = read(R"({"max_length": 2, "forced_bos_token_id": 7, "forced_eos_token_id": [5, 3]})");
  EXPECT_EQ(config.forced_token(1, 0), 3);
  EXPECT_EQ(read(R"({"max_length": 9, "forced_bos_token_id": 7})").forced_token(1, 0), 7);
}

TEST(GenerationConfig, ABanOfTheEndTokenAloneDoesNotCount) {
  EXPECT_THAT(read(R"({"eos_token_id": [0, 4], "bad_words_ids": [[4], [4, 5], []]})").bad_words,
              ElementsAre(ElementsAre(4, 5)));
}

TEST(GenerationConfig, ErrorsNameTheFileTheKeyAndTheRange) {
  EXPECT_THAT(failure(R"({"max_length": 0})"), HasSubstr("g.json: 'max_length' is 0, expected"));
  EXPECT_THAT(failure(R"({"eos_token_id": 100})"), HasSubstr("'eos_token_id' is 100, expected"));
  EXPECT_THAT(failure(R"({"bad_words_ids": [[100]]})"), HasSubstr("bad_words_ids"));
  EXPECT_THAT(failure(R"({"bad_words_ids": 3})"), HasSubstr("bad_words_ids"));
}

TEST(GenerationConfig, WithoutAStartTokenTheFirstTokenOfATextServes) {
  TransformerConfig config;
  config.decoder.vocabulary = 10;
  const JsonObject none(parse_json("{}", "g.json"), "g.json");
  EXPECT_EQ(read_generation_config(none, config).decoder_start_token, std::nullopt);
  const JsonObject bos(parse_json(R"({"bos_token_id": 3})", "g.json"), "g.json");
  EXPECT_EQ(read_generation_config(bos, config).decoder_start_token, 3);
}

}  // namespace
}  // namespace encdec
