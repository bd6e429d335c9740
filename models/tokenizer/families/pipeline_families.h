#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/families/pipeline_data.h"
#include "encdec/models/tokenizer/pipeline/pipeline_tokenizer.h"

namespace encdec {

// A tokenizer class of transformers 5 that builds a pipeline around a vocabulary.
struct PipelineFamily {
  std::string_view tokenizer_class;
  // The vocabulary's files, for folders without a tokenizer.json. A folder must have all of these files or none.
  std::vector<const char*> files;
  // Reads the content of `files` into `data`. Null if `files` is tokenizer.json.
  void (*read)(const std::vector<NamedText>& files, PipelineData& data);
  std::string_view model;    // model.type in tokenizer.json
  NamedTokens named_tokens;  // default named tokens
  PipelineParts (*make)(PipelineData& data);
};

const PipelineFamily* find_pipeline_family(std::string_view tokenizer_class);  // null if there is none
// Returns the families whose vocabulary is a sentencepiece model, a subset of all families.
std::vector<PipelineFamily> sentencepiece_families();

// Builds Whisper's byte-level BPE. Frame (special tokens around a text X): START [LANGUAGE] [TASK] NO_TIMESTAMPS X END.
// A language is a code ("fr") or an English name. The target language of EncodeOptions takes precedence, then its
// source language, then the language in tokenizer_config.json. Decoding also skips timestamps.
PipelineParts make_whisper(PipelineData& data);

// Building blocks of families. Each family writes a document: a tokenizer.json without the vocabulary.
namespace family_parts {

// Return the default named tokens of fairseq's and of BERT's families.
NamedTokens fairseq_tokens();
NamedTokens bert_tokens();

// Builds the pipeline of data.file, which is moved from, with the tokens and decoding options of data.settings.
PipelineParts load(PipelineData& data);
// Like load(data), with a document instead of data.file.rest.
PipelineParts load(PipelineData& data, nlohmann::json document);
// The separator of a pair of texts: the token `after` of framed(), once or twice. A second segment may follow it.
enum class Separator : std::uint8_t { once, once_then_second_segment, twice };
// Like load(), with one token on each side of a text. `before` and `after` name tokens of the settings; "" means none.
// Throws TokenizerError if a token does not exist.
PipelineParts framed(PipelineData& data, nlohmann::json document, std::string_view before, std::string_view after,
                     Separator separator = Separator::once);
struct Languages {
  std::vector<std::string> names = {};  // languages that the vocabulary lacks are dropped
  std::string source = {};              // default if neither settings nor caller set a source language
  bool is_first = true;                 // the language token precedes the text, else follows the end token
};
// Like load(), with the end token after a text, and a language token before the text or after the end token.
PipelineParts with_languages(PipelineData& data, nlohmann::json document, const Languages& languages);

// Returns the document of a byte-level BPE. The settings' add_prefix_space overrides `adds_prefix_space`.
nlohmann::json byte_level_document(const PipelineData& data, bool adds_prefix_space);

}  // namespace family_parts
}  // namespace encdec
