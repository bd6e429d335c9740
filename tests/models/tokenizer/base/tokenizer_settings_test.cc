#include "encdec/models/tokenizer/base/tokenizer_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class TokenizerSettingsFiles : public testing::Test {
 protected:
  TokenizerSettings read() const {
    return TokenizerSettings::merge(TokenizerFiles::read(folder_.path()),
                                    {{"unk_token", "<unk>"}, {"eos_token", "</s>"}});
  }
  void config(std::string_view json) const { folder_.write("tokenizer_config.json", json); }

  const TempFolder folder_;
};

TEST_F(TokenizerSettingsFiles, AreOptional) {
  const TokenizerSettings settings = read();
  EXPECT_THAT(settings.named_tokens, ElementsAre(Pair("eos_token", "</s>"), Pair("unk_token", "<unk>")));
  EXPECT_THAT(settings.special_tokens, ElementsAre("</s>", "<unk>"));
  EXPECT_THAT(settings.added_tokens, IsEmpty());
  EXPECT_FALSE(settings.separate_vocabularies);
  EXPECT_FALSE(settings.split_special_tokens);
  EXPECT_FALSE(settings.clean_up_spaces);
}

TEST_F(TokenizerSettingsFiles, SwitchesAreRead) {
  config(R"({"separate_vocabs": true, "split_special_tokens": true, "clean_up_tokenization_spaces": true})");
  const TokenizerSettings settings = read();
  EXPECT_TRUE(settings.separate_vocabularies);
  EXPECT_TRUE(settings.split_special_tokens);
  EXPECT_TRUE(settings.clean_up_spaces);
}

TEST_F(TokenizerSettingsFiles, SpecialTokensAreNamedOnesThenTheModelsThenExtraOnesEachOnce) {
  config(
      R"({"mask_token": "<mask>", "unk_token": {"__type": "AddedToken", "content": "<UNK>"}, "image_token": "<image>",
             "other_token": 7, "eos_token": "</s>", "extra_special_tokens": ["b", "</s>", "a"]})");
  EXPECT_THAT(read().special_tokens, ElementsAre("</s>", "<UNK>", "<mask>", "<image>", "b", "a"));
}

TEST_F(TokenizerSettingsFiles, NullRemovesAToken) {
  config(R"({"eos_token": null, "pad_token": null})");
  EXPECT_THAT(read().special_tokens, ElementsAre("<unk>"));
}

TEST_F(TokenizerSettingsFiles, AdditionalSpecialTokensIsTheOldNameOfExtraOnes) {
  config(R"({"additional_special_tokens": ["a"]})");
  EXPECT_THAT(read().special_tokens, ElementsAre("</s>", "<unk>", "a"));
  config(R"({"additional_special_tokens": ["a"], "extra_special_tokens": ["b"]})");
  EXPECT_THAT(read().special_tokens, ElementsAre("</s>", "<unk>", "b"));
  config(R"({"additional_special_tokens": ["a"], "extra_special_tokens": []})");
  EXPECT_THAT(read().special_tokens, ElementsAre("</s>", "<unk>", "a"));
}

TEST_F(TokenizerSettingsFiles, ExtraTokensMayHaveNames) {
  config(R"({"extra_special_tokens": {"image_token": "<image>"}, "model_specific_special_tokens": {"x": "y"}})");
  EXPECT_THAT(read().special_tokens, ElementsAre("</s>", "<unk>", "y", "<image>"));
}

TEST_F(TokenizerSettingsFiles, AddedTokensHaveIdsAndOptions) {
  config(R"({"added_tokens_decoder": {"5": {"content": "<x>", "lstrip": true, "special": true},
                                      "70": {"content": "y", "rstrip": true, "single_word": true}}})");
  const TokenizerSettings settings = read();
  ASSERT_EQ(settings.added_tokens.size(), 2u);
  EXPECT_EQ(settings.added_tokens.at(5).content, "<x>");
  EXPECT_TRUE(settings.added_tokens.at(5).strip_left);
  EXPECT_FALSE(settings.added_tokens.at(5).strip_right);
  EXPECT_TRUE(settings.added_tokens.at(70).strip_right);
  EXPECT_TRUE(settings.added_tokens.at(70).single_word);
  EXPECT_THAT(settings.special_tokens, ElementsAre("</s>", "<unk>"));  // "special" there has no effect
}

TEST_F(TokenizerSettingsFiles, OlderFilesAreReadWithoutAnAddedTokensDecoder) {
  folder_.write("special_tokens_map.json", R"({"eos_token": {"content": "<end>", "lstrip": true}, "cls_token": "<cls>",
                                               "additional_special_tokens": ["a"], "extra_special_tokens": [{"content": "b"}]})");
  folder_.write("added_tokens.json", R"({"word": 12})");
  folder_.write("tokenizer.json", R"({"added_tokens": [{"id": 13, "content": "c", "rstrip": true}], "model": {}})");
  const TokenizerSettings settings = read();
  EXPECT_THAT(settings.special_tokens, ElementsAre("<end>", "<unk>", "<cls>", "b"));
  ASSERT_EQ(settings.added_tokens.size(), 2u);
  EXPECT_EQ(settings.added_tokens.at(12).content, "word");
  EXPECT_TRUE(settings.added_tokens.at(13).strip_right);
}

TEST_F(TokenizerSettingsFiles, OlderFilesAreIgnoredBesideAnAddedTokensDecoder) {
  config(R"({"added_tokens_decoder": {}})");
  folder_.write("special_tokens_map.json", R"({"eos_token": "<end>"})");
  folder_.write("added_tokens.json", R"({"word": 12})");
  folder_.write("tokenizer.json", "not even JSON");
  EXPECT_THAT(read().special_tokens, ElementsAre("</s>", "<unk>"));
  EXPECT_THAT(read().added_tokens, IsEmpty());
}

struct BadSettings {
  const char* file;
  const char* json;
  const char* message;
};

class BadSettingsFiles : public testing::TestWithParam<BadSettings> {};

TEST_P(BadSettingsFiles, AreRefusedByName) {
  const TempFolder folder;
  folder.write(GetParam().file, GetParam().json);
  try {
    TokenizerSettings::merge(TokenizerFiles::read(folder.path()), {});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr((folder / GetParam().file).string() + ": "));
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  }
}

constexpr const char* kConfig = "tokenizer_config.json";
INSTANTIATE_TEST_SUITE_P(
    , BadSettingsFiles,
    testing::Values(
        BadSettings{kConfig, "{", "not valid JSON"}, BadSettings{kConfig, "[1]", "expected a JSON object"},
        BadSettings{kConfig, R"({"separate_vocabs": "yes"})", "'separate_vocabs'"},
        BadSettings{kConfig, R"({"sp_model_kwargs": {"enable_sampling": true}})", "no options for sentencepiece"},
        BadSettings{kConfig, R"({"eos_token": {"content": "</s>"}})", "'eos_token' is object, expected a token"},
        BadSettings{kConfig, R"({"eos_token": {"__type": "AddedToken"}})", "'content' is missing"},
        BadSettings{kConfig, R"({"eos_token": 7})", "'eos_token' is number, expected a token"},
        BadSettings{kConfig, R"({"extra_special_tokens": "a"})", "a list of tokens or an object"},
        BadSettings{kConfig, R"({"extra_special_tokens": [{"content": "a"}]})", "is object, expected a token"},
        BadSettings{kConfig, R"({"extra_special_tokens": {"a": 1}})", "'a' is number, expected a token"},
        BadSettings{kConfig, R"({"added_tokens_decoder": []})", "'added_tokens_decoder' is array, expected an object"},
        BadSettings{kConfig, R"({"added_tokens_decoder": {"x": {"content": "a"}}})",
                    "'x': invalid id of an added token"},
        BadSettings{kConfig, R"({"added_tokens_decoder": {"-1": {"content": "a"}}})",
                    "'-1': invalid id of an added token"},
        BadSettings{kConfig, R"({"added_tokens_decoder": {"10000000": {"content": "a"}}})", "expected 0 to 9999999"},
        BadSettings{kConfig, R"({"added_tokens_decoder": {"99999999999": {"content": "a"}}})", "invalid id"},
        BadSettings{kConfig, R"({"added_tokens_decoder": {"1": "a"}})", "expected a JSON object"},
        BadSettings{kConfig, R"({"added_tokens_decoder": {"1": {"content": "a", "lstrip": 1}}})", "'lstrip'"},
        BadSettings{"special_tokens_map.json", R"({"eos_token": {"lstrip": true}})", "'content' is missing"},
        BadSettings{"special_tokens_map.json", R"({"additional_special_tokens": [1]})", "expected a token"},
        BadSettings{"added_tokens.json", R"({"a": "1"})", "'a': invalid id of an added token"},
        BadSettings{"added_tokens.json", R"({"a": null})", "'a': invalid id of an added token"},
        BadSettings{"tokenizer.json", R"({"model": {}})", "'added_tokens' is null, expected a list"},
        BadSettings{"tokenizer.json", R"({"added_tokens": [{"content": "a"}]})", "'a': invalid id of an added token"}));

TEST_F(TokenizerSettingsFiles, TokensHaveAMaximumSize) {
  config(R"({"eos_token": ")" + std::string(1024, 'x') + "\"}");
  EXPECT_EQ(read().named_tokens.at("eos_token").size(), 1024u);
  config(R"({"eos_token": ")" + std::string(1025, 'x') + "\"}");
  EXPECT_THROW(read(), TokenizerError);
}

}  // namespace
}  // namespace encdec
