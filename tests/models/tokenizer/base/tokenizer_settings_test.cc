#include "encdec/models/tokenizer/base/tokenizer_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TokenizerSettingsFiles : public testing::Test {
 protected:
  TokenizerSettings read() const {
    return TokenizerSettings::merge(TokenizerFiles::read(folder_.path()),
                                    {{"unk_token", "<unk>"}, {"eos_token", "</s>"}});
  }
  void config(std::string_view json) const { folder_.write("tokenizer_config.json", json); }

  const TempFolder folder_;
};

TEST_F(TokenizerSettingsFiles, SpecialTokensAreNamedOnesThenTheModelsThenExtraOnesEachOnce) {
  const std::pair<const char*, std::vector<std::string>> kCases[] = {
      {R"({"mask_token": "<mask>", "unk_token": {"__type": "AddedToken", "content": "<UNK>"}, "image_token": "<image>",
             "other_token": 7, "eos_token": "</s>", "extra_special_tokens": ["b", "</s>", "a"]})",
       {"</s>", "<UNK>", "<mask>", "<image>", "b", "a"}},
      {R"({"eos_token": null, "pad_token": null})", {"<unk>"}},
      // The old name of extra tokens.
      {R"({"additional_special_tokens": ["a"]})", {"</s>", "<unk>", "a"}},
      {R"({"additional_special_tokens": ["a"], "extra_special_tokens": ["b"]})", {"</s>", "<unk>", "b"}},
      {R"({"additional_special_tokens": ["a"], "extra_special_tokens": []})", {"</s>", "<unk>", "a"}},
      {R"({"extra_special_tokens": {"image_token": "<image>"}, "model_specific_special_tokens": {"x": "y"}})",
       {"</s>", "<unk>", "y", "<image>"}}};
  for (const auto& [json, tokens] : kCases) {
    config(json);
    EXPECT_EQ(read().special_tokens, tokens) << json;
  }
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

TEST_F(TokenizerSettingsFiles, TokensHaveAMaximumSize) {
  config(R"({"eos_token": ")" + std::string(1024, 'x') + "\"}");
  EXPECT_EQ(read().named_tokens.at("eos_token").size(), 1024u);
  config(R"({"eos_token": ")" + std::string(1025, 'x') + "\"}");
  EXPECT_THROW(read(), TokenizerError);
}

TEST_F(TokenizerSettingsFiles, DamagedFilesAreRefusedByName) {
  const char* const kConfig = "tokenizer_config.json";
  const char* const kMap = "special_tokens_map.json";
  const struct {
    const char* file;
    const char* json;
    const char* message;
  } kCases[] = {
      {kConfig, "{", "not valid JSON"},
      {kConfig, "[1]", "expected a JSON object"},
      {kConfig, R"({"separate_vocabs": "yes"})", "'separate_vocabs'"},
      {kConfig, R"({"sp_model_kwargs": {"enable_sampling": true}})", "no options for sentencepiece"},
      {kConfig, R"({"eos_token": {"content": "</s>"}})", "'eos_token' is object, expected a token"},
      {kConfig, R"({"eos_token": {"__type": "AddedToken"}})", "'content' is missing"},
      {kConfig, R"({"eos_token": 7})", "'eos_token' is number, expected a token"},
      {kConfig, R"({"extra_special_tokens": "a"})", "a list of tokens or an object"},
      {kConfig, R"({"extra_special_tokens": [{"content": "a"}]})", "is object, expected a token"},
      {kConfig, R"({"extra_special_tokens": {"a": 1}})", "'a' is number, expected a token"},
      {kConfig, R"({"added_tokens_decoder": []})", "'added_tokens_decoder' is array, expected an object"},
      {kConfig, R"({"added_tokens_decoder": {"x": {"content": "a"}}})", "'x': invalid id of an added token"},
      {kConfig, R"({"added_tokens_decoder": {"-1": {"content": "a"}}})", "'-1': invalid id of an added token"},
      {kConfig, R"({"added_tokens_decoder": {"10000000": {"content": "a"}}})", "expected 0 to 9999999"},
      {kConfig, R"({"added_tokens_decoder": {"99999999999": {"content": "a"}}})", "invalid id"},
      {kConfig, R"({"added_tokens_decoder": {"1": "a"}})", "expected a JSON object"},
      {kConfig, R"({"added_tokens_decoder": {"1": {"content": "a", "lstrip": 1}}})", "'lstrip'"},
      {kMap, R"({"eos_token": {"lstrip": true}})", "'content' is missing"},
      {kMap, R"({"additional_special_tokens": [1]})", "expected a token"},
      {"added_tokens.json", R"({"a": "1"})", "'a': invalid id of an added token"},
      {"added_tokens.json", R"({"a": null})", "'a': invalid id of an added token"},
      {"tokenizer.json", R"({"model": {}})", "'added_tokens' is null, expected a list"},
      {"tokenizer.json", R"({"added_tokens": [{"content": "a"}]})", "'a': invalid id of an added token"}};
  for (const auto& [file, json, message] : kCases) {
    const TempFolder folder;
    const std::string path = folder.write(file, json);
    const auto merge = [&] { TokenizerSettings::merge(TokenizerFiles::read(folder.path()), {}); };
    EXPECT_THAT(refusal_of<Error>(path + ": ", merge), HasSubstr(message)) << file << json;
  }
}

}  // namespace
}  // namespace encdec
