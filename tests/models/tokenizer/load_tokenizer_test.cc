#include "encdec/models/tokenizer/load_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/models/checkpoint/mapped_file.h"
#include "tests/models/tokenizer/golden_tokenizers.h"
#include "tests/models/tokenizer/sentencepiece/sentencepiece_writer.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using Ids = std::vector<std::int32_t>;
using namespace test;
namespace fs = std::filesystem;

const fs::path kNative = "tokenizer_native";

class TokenizerFolder : public testing::Test {
 protected:
  std::string error(std::string_view type) const {
    return message_of([&] { load_tokenizer(folder_.path(), type); });
  }

  TempFolder folder_;
};

TEST_F(TokenizerFolder, FindsNothingInAFolderWithoutTokenizerFiles) {
  folder_.write("config.json", "{}");
  folder_.write("tokenizer_config.json", "{}");
  for (const char* type : {"t5", "bart", "m2m_100", "plbart", "marian", "bert", "llama", ""}) {
    EXPECT_EQ(load_tokenizer(folder_.path(), type), nullptr) << type;
  }
}

TEST_F(TokenizerFolder, CutsAtTheSideThatTheFilesName) {
  nlohmann::json file = read_json(golden_folder(kNative / "deberta_published") / "tokenizer.json");
  const nlohmann::json config = read_json(golden_folder(kNative / "deberta_published") / "tokenizer_config.json");
  const auto load = [&](const nlohmann::json& changes) {
    nlohmann::json changed = config;
    if (changes.is_object()) changed.update(changes);
    folder_.write("tokenizer.json", file.dump());
    folder_.write("tokenizer_config.json", changed.dump());
    return load_tokenizer(folder_.path(), "deberta-v2");
  };
  const auto whole = load({})->encode_with_ranges("The quick brown fox");
  const std::size_t last = whole.ids.size() - 1;
  const Ids end = {whole.ids[0], whole.ids[last - 2], whole.ids[last - 1], whole.ids[last]};
  const Ids beginning = {whole.ids[0], whole.ids[1], whole.ids[2], whole.ids[last]};
  EXPECT_EQ(load({})->encode("The quick brown fox", {.max_length = 4}), beginning);

  const auto left = load({{"truncation_side", "left"}, {"model_input_names", {"input_ids"}}});
  EXPECT_EQ(left->encode("The quick brown fox", {.max_length = 4}), end);
  EXPECT_EQ(left->encode_with_ranges("The quick brown fox", {.max_length = 4}).ranges[1].begin,
            whole.ranges[last - 2].begin);
  EXPECT_EQ(left->encode("The quick brown fox", {.max_length = 4, .truncation_side = TruncationSide::right}),
            beginning);
  const Encoding pair = left->encode_pair("fox", "The quick brown fox", {.max_length = 5});
  EXPECT_EQ(pair.ids[3], whole.ids[last - 1]);
  EXPECT_EQ(pair.second_segment, kNoSecondSegment);
  EXPECT_EQ(load({})->encode_pair("fox", "The quick", {.max_length = 5}).second_segment, 3u);

  file["truncation"] = {{"direction", "Left"}, {"max_length", 4}, {"strategy", "LongestFirst"}, {"stride", 0}};
  EXPECT_EQ(load({})->encode("The quick brown fox", {.max_length = 4}), end);
  EXPECT_EQ(load({{"truncation_side", "right"}})->encode("The quick brown fox", {.max_length = 4}), beginning);
  folder_.write("tokenizer_config.json", R"({"truncation_side": "middle"})");
  EXPECT_THAT(error("deberta-v2"), HasSubstr("truncation_side 'middle', expected right or left"));
}

TEST_F(TokenizerFolder, NamesTheMissingFile) {
  folder_.write("vocab.json", "{}");
  EXPECT_THAT(error("bart"), HasSubstr("no merges.txt, expected vocab.json and merges.txt"));
  EXPECT_THAT(error("blenderbot-small"), HasSubstr("no merges.txt, expected vocab.json and merges.txt"));
  EXPECT_THAT(error("m2m_100"),
              HasSubstr("no sentencepiece.bpe.model, expected vocab.json and sentencepiece.bpe.model"));
}

TEST_F(TokenizerFolder, NamesFilesThatItCannotUse) {
  folder_.write("vocab.json", "{}");
  EXPECT_THAT(error("t5"), HasSubstr("vocab.json exists, but it is not a file that T5Tokenizer can use"));
  EXPECT_THAT(error("newest"), HasSubstr("vocab.json exists, but model_type 'newest' has no known tokenizer"));
  folder_.write("tokenizer_config.json", R"({"tokenizer_class": "NewestTokenizerFast"})");
  EXPECT_THAT(error("t5"), HasSubstr("not a file that NewestTokenizer can use; expected a tokenizer.json"));
}

TEST_F(TokenizerFolder, TheTokenizersClassOverridesTheModels) {
  folder_.write("config.json", R"({"model_type": "t5", "tokenizer_class": "ByT5Tokenizer"})");
  EXPECT_EQ(load_tokenizer(folder_.path(), "t5")->kind(), "bytes");
  folder_.write("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer"})");
  folder_.write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n");
  const auto tokenizer = load_tokenizer(folder_.path(), "t5");
  EXPECT_EQ(tokenizer->kind(), "WordPiece");
  EXPECT_THAT(tokenizer->encode("a b"), ElementsAre(1, 3, 0, 2));
}

TEST_F(TokenizerFolder, AnUnknownClassWithTokenizerJsonIsLoaded) {
  folder_.write("tokenizer.json", R"({"model": {"type": "WordLevel", "vocab": {"a": 0, "u": 1}, "unk_token": "u"}})");
  folder_.write("tokenizer_config.json", R"({"tokenizer_class": "NewestTokenizer", "extra_special_tokens": ["<x>"]})");
  const auto tokenizer = load_tokenizer(folder_.path(), "newest");
  EXPECT_THAT(tokenizer->encode("a<x>b"), ElementsAre(0, 2, 1));
}

// transformers would build a Unigram pipeline here, and fail.
TEST_F(TokenizerFolder, AModelOfAnotherKindThanTheClassIsUsedUnchanged) {
  folder_.write("tokenizer.json", R"({"model": {"type": "WordLevel", "vocab": {"a": 0, "u": 1}, "unk_token": "u"}})");
  EXPECT_THAT(load_tokenizer(folder_.path(), "t5")->encode("a"), ElementsAre(0));
}

TEST_F(TokenizerFolder, LlamasClassIsNotUsedForMistralNorForByteLevelFiles) {
  folder_.write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizerFast"})");
  for (const auto& [name, type] : {std::pair("llama2", "mistral"), std::pair("llama3", "llama")}) {
    const fs::path golden = fs::path("tokenizer_json") / name;
    folder_.write("tokenizer.json", read_json(golden_folder(golden) / "tokenizer.json").dump());
    constexpr std::string_view kText = " a <s> b <unk>";
    EXPECT_EQ(load_tokenizer(folder_.path(), type)->encode(kText), golden_tokenizer(golden)->encode(kText)) << name;
  }
}

TEST_F(TokenizerFolder, AVocabularyAloneExpectsTokens) {
  folder_.write("shared_vocabulary.json", R"(["<unk>", "a"])");
  EXPECT_THAT(load_tokenizer(folder_.path(), "")->encode("a b"), ElementsAre(1, 0));
}

// As in published checkpoints. transformers 5.23 finds no languages in such a folder.
TEST_F(TokenizerFolder, NllbHasItsLanguagesAfterThePiecesOfASentencepieceModel) {
  folder_.write("sentencepiece.bpe.model", unknown_piece() + piece("<s>", 0, kControl) + piece("</s>", 0, kControl) +
                                               piece("▁", -1) + piece("a", -2) + piece("▁a", -3) +
                                               bytes_field(2, number_field(3, 2)));
  const auto tokenizer = load_tokenizer(folder_.path(), "m2m_100");
  EXPECT_THAT(tokenizer->languages(), SizeIs(202));
  EXPECT_EQ(tokenizer->language_token("ace_Arab"), 7);
  EXPECT_EQ(tokenizer->language_token("zul_Latn"), 7 + 201);
  EXPECT_EQ(tokenizer->token_id("<mask>"), 7 + 202);
  EXPECT_THAT(tokenizer->encode("a", {.source_language = "ace_Latn"}), ElementsAre(8, 6, 2));
}

struct LanguageCase {
  const char* folder;
  const char* language;
  std::size_t count;
};

class Languages : public testing::TestWithParam<LanguageCase> {
 protected:
  const std::unique_ptr<Tokenizer> tokenizer_ = golden_tokenizer(kNative / GetParam().folder);
};

TEST_P(Languages, AreListedInTheOrderOfTheirIds) {
  const auto languages = tokenizer_->languages();
  EXPECT_EQ(languages.size(), GetParam().count);
  EXPECT_THAT(languages, Contains(GetParam().language));
  std::int32_t last = -1;
  for (const std::string& language : languages) {
    const auto token = tokenizer_->language_token(language);
    ASSERT_TRUE(token.has_value()) << language;
    EXPECT_GT(*token, last);
    last = *token;
  }
}

TEST_P(Languages, UnknownOnesAreRefusedAndSomeKnownOnesNamed) {
  EXPECT_EQ(tokenizer_->language_token("xx_\n"), std::nullopt);
  for (const EncodeOptions& options : {EncodeOptions{.source_language = "xx_\n"}, {.target_language = "xx_\n"}}) {
    const std::string message = message_of<InputError>([&] {
      options.source_language.empty() ? tokenizer_->encode_target("a", options) : tokenizer_->encode("a", options);
    });
    EXPECT_THAT(message, AllOf(HasSubstr("language 'xx_\\n' is not known, expected one of "),
                               HasSubstr(tokenizer_->languages().front())));
    EXPECT_LT(message.size(), 1000u);
  }
}

TEST_P(Languages, AreKeptIfTheLengthIsLimited) {
  const EncodeOptions options{.source_language = GetParam().language, .max_length = 4};
  const Ids ids = tokenizer_->encode("a long text of many words", options);
  EXPECT_EQ(ids.size(), 4u);
  EXPECT_THAT(ids, Contains(*tokenizer_->language_token(GetParam().language)));
  EXPECT_THAT(ids, Contains(*tokenizer_->token_id("</s>")));
}

INSTANTIATE_TEST_SUITE_P(, Languages,
                         testing::Values(LanguageCase{"mbart", "fr_XX", 25}, LanguageCase{"mbart50", "sl_SI", 52},
                                         LanguageCase{"nllb_saved", "fra_Latn", 202},
                                         LanguageCase{"nllb_legacy", "zul_Latn", 202},
                                         LanguageCase{"m2m_100", "fr", 100}, LanguageCase{"plbart_base", "java", 3},
                                         LanguageCase{"plbart_multi", "php", 7}),
                         [](const auto& one) { return std::string(one.param.folder); });

TEST(LanguageCodes, MayBeWrittenAsTokensForPLBart) {
  const auto tokenizer = golden_tokenizer(kNative / "plbart_base");
  EXPECT_EQ(tokenizer->language_token("java"), tokenizer->language_token("__java__"));
  EXPECT_NE(tokenizer->language_token("java"), std::nullopt);
}

TEST(LanguageCodes, AreRefusedByTokenizersWithoutLanguages) {
  for (const char* name : {"t5", "bart", "byt5", "blenderbot_small", "bert_uncased"}) {
    const auto tokenizer = golden_tokenizer(kNative / name);
    EXPECT_THAT(tokenizer->languages(), ElementsAre());
    EXPECT_THROW(tokenizer->encode("a", {.target_language = "fr"}), InputError) << name;
  }
}

TEST(MaxLength, KeepsTheSurroundingSpecialTokens) {
  for (const char* name : {"t5", "bart", "byt5", "bert_uncased", "pegasus", "xlm_roberta"}) {
    const auto tokenizer = golden_tokenizer(kNative / name);
    const Ids whole = tokenizer->encode("some words of a text");
    const Ids cut = tokenizer->encode("some words of a text", {.max_length = 5});
    EXPECT_EQ(cut.size(), 5u) << name;
    EXPECT_EQ(cut.front(), whole.front()) << name;
    EXPECT_EQ(cut.back(), whole.back()) << name;
  }
}

TEST(LoadTokenizer, GivesTokenizersThatRefuseUnknownIdsAndTextThatIsNotUtf8) {
  for (const char* name : {"t5", "byt5", "blenderbot_small", "m2m_100", "plbart_base", "nllb_saved"}) {
    const auto tokenizer = golden_tokenizer(kNative / name);
    for (const std::int32_t id : {-1, 1'000'000}) {
      EXPECT_THROW(tokenizer->decode(Ids{id}), InputError) << name;
      EXPECT_THROW(tokenizer->pieces(Ids{id}, TextSide::target), InputError) << name;
      EXPECT_EQ(decode_known(*tokenizer, Ids{id, 70, id, 71}), tokenizer->decode(Ids{70, 71})) << name;
    }
    EXPECT_THROW(tokenizer->encode("a\xFF"), TokenizerError) << name;
  }
}

// The embeddings of M2M-100 have more rows than its vocabulary and languages need.
TEST(M2M100, UnusedIdsAreUnknownTokens) {
  const auto tokenizer = golden_tokenizer(kNative / "m2m_100");
  const std::int32_t last_language = *tokenizer->language_token("zu");
  EXPECT_THAT(tokenizer->pieces(Ids{last_language + 1, last_language + 8}, TextSide::target),
              ElementsAre("<unk>", "<unk>"));
  EXPECT_THROW(tokenizer->decode(Ids{last_language + 9}), InputError);
}

TEST(LoadTokenizer, RefusesDamagedFilesByName) {
  const char* const kConfig = "tokenizer_config.json";
  const struct {
    const char* folder;  // golden folder, of which a damaged copy is made
    const char* file;
    const char* content;  // null: the original without its last bytes
    const char* found;
  } kCases[] = {
      {"t5", "spiece.model", nullptr, "spiece.model: not a sentencepiece model"},
      {"t5", "spiece.model", "", "spiece.model: not a sentencepiece model: no pieces"},
      {"t5", kConfig, R"({"extra_ids": -1})", "extra_ids"},
      {"t5", kConfig, R"({"extra_ids": 1000000000})", "extra_ids"},
      {"t5", kConfig, R"({"tokenizer_class": 5})", "tokenizer_class"},
      {"t5", kConfig, R"({"eos_token": ["a"]})", "'eos_token' is array, expected a token"},
      {"t5", kConfig, R"({"eos_token": null})", "there is no eos_token"},
      {"t5_saved", "tokenizer.json", nullptr, "tokenizer.json"},
      {"t5_saved", "tokenizer.json", R"({"model": {"vocab": [["a", 0], ["b", 0]]}, "added_tokens": []})", "expected"},
      {"t5_saved", "tokenizer.json",
       R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "*"}, "model": {"vocab": [["a", 0]]}})",
       "precompiled_charsmap is not base64"},
      {"t5_saved", "tokenizer.json",
       R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "////"}, "model": {"vocab": [["a", 0]]}})",
       "table"},
      {"bart", "vocab.json", nullptr, "vocab.json"},
      {"bart", "vocab.json", R"({})", "vocab.json"},
      {"bart", "merges.txt", "a b c\n", "merges.txt: line 1"},
      {"bart", "merges.txt", "never seen\n", "never"},
      {"bart", kConfig, R"({"add_prefix_space": 1})", "add_prefix_space"},
      {"bert_uncased", "vocab.txt", "", "no unk_token '[UNK]'"},
      {"bert_uncased", "vocab.txt", "[CLS]\n[SEP]\n\xFF\n", "vocab.txt: not valid UTF-8"},
      {"pegasus", kConfig, R"({"tokenizer_class": "PegasusTokenizer", "offset": 1})", "offset"},
      {"pegasus", kConfig, R"({"tokenizer_class": "PegasusTokenizer", "unk_token": "<x>"})", "no unk_token '<x>'"},
      {"mbart", kConfig, R"({"tokenizer_class": "MBartTokenizer", "src_lang": 3})", "src_lang"},
      {"m2m_100", "vocab.json", R"({"</s>": 0})", "unk_token"},
      {"m2m_100", "vocab.json", R"({"</s>": 0, "<unk>": 3})", "both have the id 3"},
      {"m2m_100", "sentencepiece.bpe.model", nullptr, "sentencepiece.bpe.model: not a sentencepiece model"},
      {"m2m_100", kConfig, R"({"tokenizer_class": "M2M100Tokenizer", "language_codes": "all"})",
       "expected 'm2m100' or 'wmt21'"},
      {"plbart_base", kConfig, R"({"tokenizer_class": "PLBartTokenizer", "language_codes": "all"})",
       "expected 'base' or 'multi'"},
      {"plbart_base", "sentencepiece.bpe.model", "x", "sentencepiece.bpe.model: not a sentencepiece model"},
      {"blenderbot_small", "vocab.json", R"({"a": 0})", "no unk_token '__unk__'"},
      {"blenderbot_small", "merges.txt", "#\n\xFF\n", "not valid UTF-8"}};
  for (const auto& [name, file, content, found] : kCases) {
    const TempFolder folder;
    for (const auto& entry : fs::directory_iterator(golden_folder(kNative / name)))
      fs::copy(entry.path(), folder.path());
    std::string bytes = content != nullptr ? content : read_text_file(folder / file, kMaxConfigBytes);
    if (content == nullptr) bytes.resize(bytes.size() - 10);
    folder.write(file, bytes);
    const std::string type = read_json_object(folder / "config.json").required_string("model_type");
    const std::string message = refusal_of<Error>(folder.path().string(), [&] { load_tokenizer(folder.path(), type); });
    EXPECT_THAT(message, HasSubstr(found)) << name;
    EXPECT_LT(message.size(), 2000u);
  }
}

}  // namespace
}  // namespace encdec
