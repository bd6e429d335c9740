#include "encdec/models/tokenizer/pipeline/tokenizer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/tokenizer/golden_tokenizers.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;
using Json = nlohmann::json;

TEST(TokenizerJson, HasAReadableNameOfItsKind) {
  EXPECT_EQ(golden_tokenizer("tokenizer_json/t5")->kind(), "unigram");
  EXPECT_EQ(golden_tokenizer("tokenizer_json/gpt2")->kind(), "byte-level BPE");
  EXPECT_EQ(golden_tokenizer("tokenizer_json/nllb")->kind(), "BPE");
  EXPECT_EQ(golden_tokenizer("tokenizer_json/bert_cased")->kind(), "WordPiece");
  EXPECT_EQ(golden_tokenizer("tokenizer_json/word_level")->kind(), "word-level");
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

std::string refusal(const std::string& json) {
  const std::string file = "dir/tokenizer.json";
  return refusal_of<Error>(file + ": ",
                           [&] { pipeline_tokenizer(read_pipeline(TokenizerJsonFile::parse(json, file)), file); });
}

TEST(TokenizerJson, RefusesInvalidFiles) {
  EXPECT_EQ(refusal(small_file().dump()), "no exception");
  const struct {
    const char* pointer;  // JSON pointer of the changed value
    const char* value;    // new value; "" removes the value
    const char* message;
  } kFiles[] = {
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
      {"/post_processor", R"({"type": "BertProcessing", "sep": ["x", -1], "cls": ["y", 1]})", "'sep' is invalid"},
      {"/post_processor", R"({"type": "RobertaProcessing", "sep": ["x", 1]})", "post_processor: has no 'cls'"},
      {"/decoder", R"({"type": "CTC"})", "decoder: type 'CTC' is not supported"},
      {"/decoder", R"({"type": "Strip", "content": " ", "start": -1, "stop": 0})", "'decoder.start' is -1"},
      {"/added_tokens", "{}", "'added_tokens' is object of 0, expected a list of objects"},
      {"/added_tokens/0/id", "", "'added_tokens[0].id' is missing"},
      {"/added_tokens/0/content", "", "'added_tokens[0].content' is missing"},
      {"/model/continuing_subword_prefix", R"("##")", "model: merge 0: 'a' is shorter than the prefix '##'"},
      {"/added_tokens", R"([{"id": 4, "content": "X", "normalized": true}, {"id": 5, "content": "x"}])",
       "are the same text once normalised"},
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
    EXPECT_THAT(refusal(file.dump()), HasSubstr(message)) << pointer << " = " << value;
  }
}

TEST(TokenizerJson, RefusesInvalidUnigramVocabularies) {
  const std::pair<const char*, const char*> kModels[] = {
      {"[]", "unk_id is 0, expected one of 0 pieces"},
      {R"([["a", -1], ["b"]])", "model.vocab[1]: a list of 1, expected a piece and its score"},
      {R"([["a", "b"]])", "model.vocab[0]: a string, expected a piece and its score"},
      {R"([[1, "b"]])", "model.vocab[0]: 1, expected a piece and its score"},
      {R"([["a", 1, 2]])", "model.vocab[0]: 2, expected a piece and its score"},
      {R"(["a"])", "model.vocab[0]: a string, expected a piece and its score"},
      {R"([{"a": 1}])", "model.vocab[0]: an object, expected a piece and its score"},
      {R"([["a", null]])", "model.vocab[0]: null, expected a piece and its score"},
      {R"([[["a"], 1]])", "model.vocab[0]: a list, expected a piece and its score"}};
  for (const auto& [vocabulary, message] : kModels) {
    const std::string json = std::string(R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": )") + vocabulary + "}}";
    EXPECT_THAT(refusal(json), HasSubstr(message)) << vocabulary;
  }
}

TEST(TokenizerJson, RefusesInvalidJsonDeepNestingAndLongSequences) {
  EXPECT_THAT(refusal("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("expected a JSON object"));
  EXPECT_THAT(refusal(R"({"model": {"vocab": {"a": 1, "a": 2}}})"), HasSubstr("'a' is there twice"));
  EXPECT_THAT(refusal(R"({"model": {}, "model": {}})"), HasSubstr("the key 'model' is there twice"));
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += R"({"normalizer":)";
  EXPECT_THAT(refusal(nested), HasSubstr("nested deeper than 64 levels"));
  Json file = small_file();
  file["normalizer"]["normalizers"] = Json(std::vector<Json>(65, {{"type", "NFC"}}));
  EXPECT_THAT(refusal(file.dump()), HasSubstr("normalizer: normalizers of 65, expected at most 64"));
  file = small_file();
  std::string grows;  // "i\u0307" once in lower case
  for (int i = 0; i < 400; ++i) grows += "\u0130";
  file["added_tokens"][0]["normalized"] = true;
  file["added_tokens"][0]["content"] = grows;
  EXPECT_THAT(refusal(file.dump()), HasSubstr("an added token of 1200 bytes"));
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

}  // namespace
}  // namespace encdec
