#include "encdec/models/tokenizer/pipeline/tokenizer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/load_tokenizer.h"
#include "tests/support/packed_folder.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;
using Json = nlohmann::json;

const std::filesystem::path kGolden = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "tokenizer_json";

const Json& golden_texts() {
  static const Json texts = [] {
    std::ifstream file(kGolden / "texts.json");
    return Json::parse(file);
  }();
  return texts;
}

class GoldenTokenizerJson : public testing::TestWithParam<std::string> {
 protected:
  std::string text(std::size_t row) const {
    return golden_texts().at(expected_.at("texts").at(row).get<std::size_t>());
  }

  const std::filesystem::path folder_ = unpacked(kGolden / GetParam());
  const std::unique_ptr<Tokenizer> tokenizer_ = load_tokenizer(folder_, "");
  const Json expected_ = read_json_object(folder_ / "expected.json").value();
};

TEST_P(GoldenTokenizerJson, EncodesAsTransformersDoes) {
  ASSERT_GE(expected_.at("ids").size(), 10u);
  for (std::size_t row = 0; row < expected_.at("ids").size(); ++row) {
    EXPECT_EQ(tokenizer_->encode(text(row)), expected_.at("ids")[row].get<Ids>()) << text(row);
  }
}

TEST_P(GoldenTokenizerJson, DecodesAsTransformersDoes) {
  for (std::size_t row = 0; row < expected_.at("ids").size(); ++row) {
    EXPECT_EQ(tokenizer_->decode(expected_.at("ids")[row].get<Ids>()), expected_.at("decoded")[row].get<std::string>());
  }
}

TEST_P(GoldenTokenizerJson, NamesPiecesAsTransformersDoes) {
  for (std::size_t row = 0; row < expected_.at("pieces").size(); ++row) {
    EXPECT_EQ(tokenizer_->pieces(expected_.at("ids")[row + 3].get<Ids>(), TextSide::source),
              expected_.at("pieces")[row].get<std::vector<std::string>>());
  }
}

TEST_P(GoldenTokenizerJson, GivesTheSameIdsInSeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<std::size_t> different(4);
  threads.reserve(different.size());
  for (std::size_t& count : different) {
    threads.emplace_back([&] {
      for (std::size_t row = 0; row < expected_.at("ids").size(); ++row) {
        const Ids ids = tokenizer_->encode(text(row));
        count += ids == expected_.at("ids")[row].get<Ids>() ? 0 : 1;
        count += tokenizer_->decode(ids) == expected_.at("decoded")[row].get<std::string>() ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(different, testing::Each(0u));
}

INSTANTIATE_TEST_SUITE_P(, GoldenTokenizerJson, testing::ValuesIn(packed_names(kGolden)),
                         [](const auto& golden) { return golden.param; });

TEST(TokenizerJson, HasAReadableNameOfItsKind) {
  EXPECT_EQ(load_tokenizer(unpacked(kGolden / "t5"), "")->kind(), "unigram");
  EXPECT_EQ(load_tokenizer(unpacked(kGolden / "gpt2"), "")->kind(), "byte-level BPE");
  EXPECT_EQ(load_tokenizer(unpacked(kGolden / "nllb"), "")->kind(), "BPE");
  EXPECT_EQ(load_tokenizer(unpacked(kGolden / "bert_cased"), "")->kind(), "WordPiece");
  EXPECT_EQ(load_tokenizer(unpacked(kGolden / "word_level"), "")->kind(), "word-level");
}

TEST(TokenizerJson, VeryLongWordsAreTokenized) {
  for (const char* name : {"t5", "gpt2", "llama2", "llama3", "bert", "clip", "unigram_bytes", "split_words"}) {
    const auto tokenizer = load_tokenizer(unpacked(kGolden / name), "");
    for (const char* letter : {"a", "é", "中", " ", "\u0301"}) {
      std::string word;
      for (int i = 0; i < 100'000; ++i) word += letter;
      EXPECT_LE(tokenizer->encode(word).size(), word.size() * 3) << name << letter;
    }
  }
}

// Returns a small file with all parts. The tests change single values of it.
Json small_file() {
  return Json::parse(R"({
    "version": "1.0",
    "added_tokens": [{"id": 4, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
                      "normalized": false, "special": true}],
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]},
    "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
      "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
      "special_tokens": {"<s>": {"id": "<s>", "ids": [4], "tokens": ["<s>"]}}},
    "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
    "model": {"type": "BPE", "unk_token": "<unk>", "vocab": {"<unk>": 0, "a": 1, "▁": 2, "▁a": 3},
              "merges": [["▁", "a"]]}
  })");
}

struct BadFile {
  const char* pointer;  // JSON pointer of the changed value
  const char* value;    // new value; "" removes the value
  const char* message;
};

std::string message_of(const std::string& json) {
  try {
    const std::string file = "dir/tokenizer.json";
    pipeline_tokenizer(read_pipeline(TokenizerJsonFile::parse(json, file)), file);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TokenizerJson, TheSmallFileIsValid) {
  EXPECT_EQ(message_of(small_file().dump()), "");
}

TEST(TokenizerJson, RefusesInvalidFiles) {
  const BadFile kFiles[] = {
      {"/version", R"("2.0")", "dir/tokenizer.json: version is '2.0', expected 1.0"},
      {"/version", "1", "'version' is 1, expected a string"},
      {"/model", "", "'model' is missing, expected an object"},
      {"/model", "[]", "'model' is array of 0, expected an object"},
      {"/model/type", R"("Foo")", "dir/tokenizer.json: model: type 'Foo' is not supported, expected BPE, Unigram"},
      {"/model/vocab", "", "model: has no vocab, expected an object of pieces and their ids"},
      {"/model/vocab", "[]", "model: has no vocab, expected an object of pieces and their ids"},
      {"/model/vocab", "3", "model: has no vocab"},
      {"/model/vocab/a", "-1", "model.vocab: 'a' is -1, expected an id from 0 to"},
      {"/model/vocab/a", "1.5", "model.vocab: 'a' is 1.5, expected an id"},
      {"/model/vocab/a", R"("1")", "model.vocab: 'a' is a string, expected an id"},
      {"/model/vocab/a", "[1]", "model.vocab: 'a' is a list, expected an id"},
      {"/model/vocab/a", "{}", "model.vocab: 'a' is an object, expected an id"},
      {"/model/vocab/a", "null", "model.vocab: 'a' is null, expected an id"},
      {"/model/vocab/a", "3", "both have the id 3"},
      {"/model/vocab/a", "10000000", "model.vocab: 'a' is 10000000, expected an id from 0 to 9999999"},
      {"/model/merges", "", "model: has no merges"},
      {"/model/merges", "{}", "model: has no merges"},
      {"/model/merges/0", R"("a")", "model.merges[0]: \"a\", expected two pieces"},
      {"/model/merges/0", R"("a b c")", "model.merges[0]: \"a b c\", expected two pieces"},
      {"/model/merges/0", R"(["a"])", "model.merges[0]: a list of 1, expected two pieces"},
      {"/model/merges/0", R"(["a", "b", "c"])", "model.merges[0]: a list, expected two pieces"},
      {"/model/merges/0", R"(["a", 1])", "model.merges[0]: 1, expected two pieces"},
      {"/model/merges/0", R"(["a", ["b"]])", "model.merges[0]: a list, expected two pieces"},
      {"/model/merges/0", "true", "model.merges[0]: boolean, expected two pieces"},
      {"/model/merges/0", R"(["a", "x"])", "model: merge 0 of 'a' and 'x': 'x' is not in the vocabulary"},
      {"/model/merges/0", R"(["a", "a"])", "'aa' is not in the vocabulary"},
      {"/model/fuse_unk", "1", "'model.fuse_unk' is 1, expected true or false"},
      {"/model/unk_token", "1", "'model.unk_token' is 1, expected a string"},
      {"/normalizer", "[]", "'normalizer' is array of 0, expected an object"},
      {"/normalizer/type", "", "'normalizer.type' is missing, expected a string"},
      {"/normalizer/type", R"("Magic")", "normalizer: type 'Magic' is not supported, expected one of BertNormalizer, "},
      {"/normalizer/normalizers", "", "'normalizer.normalizers' is missing, expected a list of objects"},
      {"/normalizer/normalizers/1", "7", "'normalizer.normalizers[1]' is 7, expected an object"},
      {"/normalizer/normalizers/1/type", R"("x")", "normalizer.normalizers[1]: type 'x' is not supported"},
      {"/normalizer", R"({"type": "Replace", "pattern": {"Regex": "("}, "content": ""})",
       "normalizer.pattern: the regular expression \"(\" is not valid"},
      {"/normalizer", R"({"type": "Replace", "pattern": {}, "content": ""})", "normalizer.pattern: neither"},
      {"/normalizer", R"({"type": "Replace", "pattern": {"String": "a"}})", "'normalizer.content' is missing"},
      {"/normalizer", R"({"type": "Precompiled", "precompiled_charsmap": "?"})", "normalizer: 'precompiled_charsmap'"},
      {"/normalizer", R"({"type": "Precompiled", "precompiled_charsmap": "AAA="})",
       "normalizer: a normalisation table"},
      {"/normalizer", R"({"type": "BertNormalizer"})", "'normalizer.clean_text' is missing, expected true or false"},
      {"/pre_tokenizer/replacement", R"("ab")", "pre_tokenizer: 'replacement' is \"ab\", expected one character"},
      {"/pre_tokenizer/replacement", R"("")", "pre_tokenizer: 'replacement' is \"\", expected one character"},
      {"/pre_tokenizer/prepend_scheme", R"("some")",
       "'prepend_scheme' is \"some\", expected one of always, first, never"},
      {"/pre_tokenizer/add_prefix_space", "false", "add_prefix_space is false and prepend_scheme is not"},
      {"/pre_tokenizer", R"({"type": "Split", "pattern": {"String": "a"}, "behavior": "Cut", "invert": false})",
       "'behavior' is \"Cut\", expected one of Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous"},
      {"/pre_tokenizer", R"({"type": "FixedLength", "length": 0})",
       "'pre_tokenizer.length' is 0, expected an integer from 1 to"},
      {"/pre_tokenizer", R"({"type": "UnicodeScripts"})", "type 'UnicodeScripts' is not supported"},
      {"/post_processor/special_tokens", "{}", "post_processor.single[0]: '<s>' is not in special_tokens"},
      {"/post_processor/special_tokens/<s>/ids", "[-1]",
       "'post_processor.special_tokens.<s>.ids[0]' is -1, expected an"},
      {"/post_processor/special_tokens/<s>/ids", "7", "post_processor.special_tokens.<s>: has no list 'ids'"},
      {"/post_processor/single/1/Sequence/id", R"("B")", "post_processor.single[1]: the text 'B', expected A"},
      {"/post_processor/single/1", "{}", "post_processor.single[1]: neither 'SpecialToken' nor 'Sequence'"},
      {"/post_processor/single/1/Sequence", "", "post_processor.single[1]: neither"},
      {"/post_processor/single", "[]", "post_processor: 'single' has 0 texts, expected one"},
      {"/post_processor", R"({"type": "BertProcessing", "sep": ["x", -1], "cls": ["y", 1]})", "'sep' has another form"},
      {"/post_processor", R"({"type": "RobertaProcessing", "sep": ["x", 1]})", "post_processor: has no 'cls'"},
      {"/decoder", R"({"type": "CTC"})", "decoder: type 'CTC' is not supported"},
      {"/decoder", R"({"type": "Strip", "content": " ", "start": -1, "stop": 0})", "'decoder.start' is -1"},
      {"/added_tokens", "{}", "'added_tokens' is object of 0, expected a list of objects"},
      {"/added_tokens/0/id", "", "'added_tokens[0].id' is missing"},
      {"/added_tokens/0/content", "", "'added_tokens[0].content' is missing"},
      {"/added_tokens/0/special", R"("yes")", "'added_tokens[0].special' is \"yes\", expected true or false"},
  };
  for (const auto& [pointer, value, message] : kFiles) {
    Json file = small_file();
    if (*value == '\0') {
      const Json::json_pointer where(pointer);
      file[where.parent_pointer()].erase(where.back());
    } else {
      file[Json::json_pointer(pointer)] = Json::parse(value);
    }
    const std::string found = message_of(file.dump());
    EXPECT_THAT(found, testing::StartsWith("dir/tokenizer.json: ")) << pointer << " = " << value;
    EXPECT_THAT(found, HasSubstr(message)) << pointer << " = " << value;
  }
}

TEST(TokenizerJson, RefusesInvalidUnigramVocabularies) {
  const BadFile kModels[] = {
      {"[]", "", "unk_id is 0, expected one of 0 pieces"},
      {R"([["a", -1], ["b"]])", "", "model.vocab[1]: a list of 1, expected a piece and its score"},
      {R"([["a", "b"]])", "", "model.vocab[0]: a string, expected a piece and its score"},
      {R"([[1, "b"]])", "", "model.vocab[0]: 1, expected a piece and its score"},
      {R"([["a", 1, 2]])", "", "model.vocab[0]: 2, expected a piece and its score"},
      {R"(["a"])", "", "model.vocab[0]: a string, expected a piece and its score"},
      {R"([{"a": 1}])", "", "model.vocab[0]: an object, expected a piece and its score"},
      {R"([["a", null]])", "", "model.vocab[0]: null, expected a piece and its score"},
      {R"([[["a"], 1]])", "", "model.vocab[0]: a list, expected a piece and its score"},
  };
  for (const auto& [vocabulary, unused, message] : kModels) {
    const std::string json = std::string(R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": )") + vocabulary + "}}";
    EXPECT_THAT(message_of(json), HasSubstr(message)) << vocabulary;
  }
}

TEST(TokenizerJson, RefusesInvalidJsonAndDeepNesting) {
  EXPECT_THAT(message_of("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(message_of("[]"), HasSubstr("expected a JSON object"));
  EXPECT_THAT(message_of(R"({"model": {"vocab": {"a": 1, "a": 2}}})"), HasSubstr("'a' is there twice"));
  EXPECT_THAT(message_of(R"({"model": {}, "model": {}})"), HasSubstr("the key 'model' is there twice"));
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += R"({"normalizer":)";
  EXPECT_THAT(message_of(nested), HasSubstr("nested deeper than 64 levels"));
}

TEST(TokenizerJson, LimitsTheLengthOfSequences) {
  Json file = small_file();
  file["normalizer"]["normalizers"] = Json(std::vector<Json>(65, {{"type", "NFC"}}));
  EXPECT_THAT(message_of(file.dump()), HasSubstr("normalizer: normalizers of 65, expected at most 64"));
}

// Returns the tokenizer of a folder with the small file and this tokenizer_config.json.
std::unique_ptr<Tokenizer> configured(const std::string& config) {
  const TempFolder folder;
  folder.write("tokenizer.json", small_file().dump());
  folder.write("tokenizer_config.json", config);
  return load_tokenizer(folder.path(), "");
}

TEST(TokenizerConfig, AddsTokensAndOptions) {
  const auto tokenizer = configured(
      R"({"eos_token": "</s>", "pad_token": {"__type": "AddedToken", "content": "<pad>", "lstrip": true}, "unk_token": null,
          "extra_special_tokens": ["<x>"], "split_special_tokens": true,
          "added_tokens_decoder": {"5": {"content": "<y>"}, "4": {"content": "<s>", "special": true}},
          "clean_up_tokenization_spaces": true})");
  EXPECT_EQ(tokenizer->token_id("<s>"), 4);
  EXPECT_EQ(tokenizer->token_id("<y>"), 5);
  EXPECT_EQ(tokenizer->token_id("</s>"), 6);
  EXPECT_EQ(tokenizer->token_id("<pad>"), 7);
  EXPECT_EQ(tokenizer->token_id("<x>"), 8);
  EXPECT_EQ(tokenizer->decode(Ids{3, 5, 6, 7, 8}), "a<y>");
  EXPECT_THAT(tokenizer->encode("</s>"), testing::Not(testing::Contains(6)));  // split, because it is special
}

TEST(TokenizerConfig, SpacesAreCleanedUpAfterBpeOnlyIfExplicitlyConfigured) {
  Json config =
      Json::parse(R"({"added_tokens_decoder": {"4": {"content": "<s>", "special": true}, "5": {"content": " ."}},
                                "clean_up_tokenization_spaces": true})");
  EXPECT_EQ(configured(config.dump())->decode(Ids{3, 5}), "a .");
  config["clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"] = true;
  EXPECT_EQ(configured(config.dump())->decode(Ids{3, 5}), "a.");
}

TEST(TokenizerConfig, RefusesInvalidTokens) {
  for (const char* config : {R"({"added_tokens_decoder": {"x": {"content": "a"}}})", R"({"added_tokens_decoder": []})",
                             R"({"added_tokens_decoder": {"1": {"content": 1}}})", R"({"split_special_tokens": 1})",
                             R"({"pad_token": {"content": "<pad>"}})"}) {
    EXPECT_THROW(configured(config), TokenizerError) << config;
  }
}

}  // namespace
}  // namespace encdec
