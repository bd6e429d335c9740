#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/families/pipeline_source.h"
#include "encdec/models/tokenizer/pipeline/pipeline_tokenizer.h"

namespace encdec {

// A tokenizer class of transformers 5 that is a pipeline around a vocabulary.
struct PipelineFamily {
  std::string_view tokenizer_class;
  // Files with the vocabulary, if there is no tokenizer.json. A folder must have all of them or none.
  std::vector<const char*> files;
  // Reads the content of `files` into `source`. Null if `files` is tokenizer.json.
  void (*read)(const std::vector<NamedText>& files, PipelineSource& source);
  std::string_view model;    // model.type in tokenizer.json
  NamedTokens named_tokens;  // defaults
  // Builds the pipeline.
  PipelineParts (*make)(PipelineSource& source);
};

// Returns null if the class is not a pipeline family.
const PipelineFamily* find_pipeline_family(std::string_view tokenizer_class);
// Returns the families whose vocabulary is a sentencepiece model. find_pipeline_family() knows them and all others.
std::vector<PipelineFamily> sentencepiece_families();

// Builds the tokenizer of Whisper, a byte-level BPE. Frame: START [LANGUAGE] [TASK] NO_TIMESTAMPS X END. A language is
// named by its code ("fr") or its English name. The target language of EncodeOptions counts, else the source language,
// else the language of tokenizer_config.json. Decoding also leaves out timestamps.
PipelineParts make_whisper(PipelineSource& source);

// Building blocks for the pipelines of families. Each family writes a document: a tokenizer.json without vocabulary.
namespace family_parts {

// Return the default named tokens of fairseq's and of BERT's families.
NamedTokens fairseq_tokens();
NamedTokens bert_tokens();

// Builds the pipeline of source.file, which is moved out of `source`, and adds the tokens and decoding options of
// source.settings.
PipelineParts load(PipelineSource& source);
// The same with a document in place of source.file.rest.
PipelineParts load(PipelineSource& source, nlohmann::json document);
// Separators of two texts that are read together: the token after each text, once or twice. A second segment may begin
// after it.
enum class Separator : std::uint8_t { once, once_then_second_segment, twice };
// The same, and puts two tokens around texts: those with the names `before` and `after` in the settings; "" means none.
// Throws TokenizerError if a token does not exist.
PipelineParts framed(PipelineSource& source, nlohmann::json document, std::string_view before, std::string_view after,
                     Separator separator = Separator::once);
// Options of with_languages().
struct Languages {
  std::vector<std::string> names = {};  // languages that the vocabulary lacks are dropped
  std::string source = {};              // default source language, if neither settings nor caller name one
  bool is_first = true;                 // the language stands before the text, else after the end token
};
// The same, but puts the end token after texts, and the token of the language before texts or after the end token.
PipelineParts with_languages(PipelineSource& source, nlohmann::json document, const Languages& languages);

// Returns the document of a byte-level BPE. The settings' add_prefix_space overrides `adds_prefix_space`.
nlohmann::json byte_level_document(const PipelineSource& source, bool adds_prefix_space);

}  // namespace family_parts
}  // namespace encdec
