#include "encdec/models/checkpoint/language_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "encdec/engine/base/error.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

const std::string kBinary("\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);  // the beginning of Marian's binary files

// Returns "source>target" for a folder of this name with these files; empty if its languages are unknown.
std::string pair_of(const std::string& name, const Files& files) {
  const TempFolder parent;
  const fs::path folder = parent.path() / name;
  fs::create_directory(folder);
  for (const auto& [file, content] : files) std::ofstream(folder / file, std::ios::binary) << content;
  const auto pair = language_pair_of(folder);
  EXPECT_EQ(language_pair_of(folder / ""), pair) << name;  // with a slash at the end
  return pair ? pair->source + ">" + pair->target : "";
}

TEST(LanguagePair, OfAFirefoxFolderIsInItsMetadata) {
  EXPECT_EQ(pair_of("tiny", {{"metadata.json", R"({"sourceLanguage": "en", "targetLanguage": "pt-BR"})"},
                             {"model.deen.intgemm.alphas.bin", kBinary}}),
            "en>pt-BR");
}

TEST(LanguagePair, OfATranslateLocallyFolderIsInItsTags) {
  EXPECT_EQ(pair_of("de-en-tiny", {{"model_info.json", R"({"srcTags": {"de": "German"}, "trgTag": "en"})"}}), "de>en");
  EXPECT_EQ(pair_of("several", {{"model_info.json", R"({"srcTags": {"nb": "a", "da": "b"}, "trgTag": "en"})"}}),
            "da+nb>en");
  for (const char* incomplete : {R"({"srcTags": {}, "trgTag": "en"})", R"({"srcTags": {"de": "German"}})", "{}"}) {
    EXPECT_EQ(pair_of("x", {{"model_info.json", incomplete}}), "") << incomplete;
  }
}

TEST(LanguagePair, OfAStudentIsInTheNameOfItsModel) {
  for (const auto& [model, pair] : std::map<std::string, std::string>{{"model.ende.intgemm.alphas.bin", "en>de"},
                                                                      {"model.deen.intgemm8.bin.zst", "de>en"},
                                                                      {"model.ende.intgemm.alphas.bin.gz", "en>de"},
                                                                      {"model.zhen.intgemm.alphas.bin", "zh>en"},
                                                                      {"model.enyue.bin", "en>yue"},
                                                                      {"model.enzh_hant.bin", "en>zh_hant"},
                                                                      {"model.defr.bin", "de>fr"},
                                                                      {"model.bin", ""},
                                                                      {"model.intgemm.alphas.bin", ""}}) {
    EXPECT_EQ(pair_of("folder", {{model, kBinary}}), pair) << model;
  }
}

TEST(LanguagePair, OfAMTranServerFolderIsInItsName) {
  const Files files = {{"model.intgemm.alphas.bin", kBinary}, {"vocab.spm", ""}};
  EXPECT_EQ(pair_of("en_zh", files), "en>zh");
  EXPECT_EQ(pair_of("en_zh-hant", files), "en>zh-hant");
  EXPECT_EQ(pair_of("zh-hans_en", files), "zh-hans>en");
  EXPECT_EQ(pair_of("fr-de", files), "fr>de");
  EXPECT_EQ(pair_of("models", files), "");
}

TEST(LanguagePair, OfOpusMtIsInTheNameOfTheFolder) {
  EXPECT_EQ(pair_of("opus-mt-en-fr", {{"config.json", "{}"}}), "en>fr");
  EXPECT_EQ(pair_of("opus-mt-tc-big-en-tur", {}), "en>tur");
  EXPECT_EQ(pair_of("opus-mt-en-ROMANCE", {{"config.json", "{}"}}), "");
}

TEST(LanguagePair, OfATokenizerComesFirst) {
  EXPECT_EQ(pair_of("opus-mt-en-fr", {{"tokenizer_config.json", R"({"source_lang": "de", "target_lang": "nl"})"},
                                      {"metadata.json", R"({"sourceLanguage": "en", "targetLanguage": "pt"})"}}),
            "de>nl");
  EXPECT_EQ(pair_of("opus-mt-en-fr", {{"tokenizer_config.json", R"({"source_lang": null, "target_lang": ""})"}}),
            "en>fr");
}

TEST(LanguagePair, TwoLettersThatAreNoStudentsFolderAreNoLanguages) {
  EXPECT_EQ(pair_of("en_de", {}), "");
  EXPECT_EQ(pair_of("en_de", {{"config.json", "{}"}, {"model.bin", ""}}), "");
  EXPECT_EQ(language_pair_of("/there/is/no/en_de"), std::nullopt);
}

TEST(LanguagePair, DamagedFilesAreReported) {
  EXPECT_THAT(message_of<FileError>([] {
                pair_of("en_de", {{"metadata.json", "{"}});
              }),
              testing::HasSubstr("metadata.json"));
  EXPECT_THAT(message_of<ConfigError>([] {
                pair_of("en_de", {{"metadata.json", R"({"sourceLanguage": 3, "targetLanguage": "de"})"}});
              }),
              testing::HasSubstr("'sourceLanguage'"));
}

}  // namespace
}  // namespace encdec
