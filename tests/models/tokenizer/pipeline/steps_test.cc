// Readers of JSON, and tokenizers of tokenizer.json, take steps in proportion to the size of a file and of a text.
#include "tests/support/steps.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/tokenizer/pipeline/tokenizer_json.h"
#include "tests/support/packed_folder.h"

namespace encdec {
namespace {

TEST(JsonSteps, AreInProportionToTheSizeOfAText) {
  for (const Repetition& shape :
       {Repetition{"{", "\"#\":#,", "\"a\":1}"}, Repetition{"[", "[],", "1]"}, Repetition{"", "[", ""},
        Repetition{"{", "\"a\":", "1}"}, Repetition{"\"", "a", "\""}, Repetition{"\"", "\\u0061", "\""},
        Repetition{"[", "{\"a\":\"b#\"},", "1]"}, Repetition{"", " ", "1"}, Repetition{"", "1", ""}}) {
    SCOPED_TRACE(shape.each);
    expect_linear([&](std::size_t n) {
      try {
        parse_json(shape.of_size(n), "file");
      } catch (const FileError&) {  // a refusal takes steps too
      }
    });
  }
}

TEST(PipelineSteps, AreInProportionToTheSizeOfAText) {
  for (const char* name : {"added_tokens", "bert", "bpe_prefix", "byte_level_normalizer", "clip", "gpt2", "llama2",
                           "llama3", "nllb", "old_metaspace", "roberta", "split_words", "t5", "unigram_bytes"}) {
    const std::string file = unpacked(std::string(ENCDEC_GOLDEN_DIR "/tokenizer_json/") + name) / "tokenizer.json";
    PipelineParts parts = read_pipeline(TokenizerJsonFile::parse(read_text_file(file, kMaxConfigBytes), file));
    const auto tokenizer = pipeline_tokenizer(std::move(parts), file);
    for (const char* each :
         {"a word ", "a", " ", "\n", "1", "\u5b57", "e\u0301", "<s>", "<", "'", "token", "\u0301\u0323"}) {
      SCOPED_TRACE(testing::Message() << name << ": " << each);
      expect_linear([&](std::size_t n) {
        try {
          static_cast<void>(tokenizer->decode(tokenizer->encode(Repetition{"", each, ""}.of_size(n))));
        } catch (const TokenizerError&) {  // no unknown token
        }
      });
    }
  }
}

}  // namespace
}  // namespace encdec
