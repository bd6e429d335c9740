#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/families/pipeline_source.h"
#include "encdec/models/tokenizer/pipeline/pipeline_tokenizer.h"

// Building blocks for the pipelines of families. Each family writes a document: a tokenizer.json without vocabulary.
namespace encdec::family_parts {

using Parts = PipelineParts;

// Builds the pipeline of source.file, which is moved out of `source`, and adds the tokens and decoding options of
// source.settings.
Parts load(PipelineSource& source);
// The same with a document in place of source.file.rest.
Parts load(PipelineSource& source, nlohmann::json document);
// Separators of two texts that are read together: the token after each text, once or twice. A second segment may begin
// after it.
enum class Separator : std::uint8_t { once, once_then_second_segment, twice };
// The same, and puts two tokens around texts: those with the names `before` and `after` in the settings; "" means none.
// Throws TokenizerError if a token does not exist.
Parts framed(PipelineSource& source, nlohmann::json document, std::string_view before, std::string_view after,
             Separator separator = Separator::once);
// Options of with_languages().
struct Languages {
  std::vector<std::string> names = {};  // languages that the vocabulary lacks are dropped
  std::string source = {};              // default source language, if neither settings nor caller name one
  bool is_first = true;                 // the language stands before the text, else after the end token
};
// The same, but puts the end token after texts, and the token of the language before texts or after the end token.
Parts with_languages(PipelineSource& source, nlohmann::json document, const Languages& languages);

// Returns the document of a byte-level BPE. The settings' add_prefix_space overrides `adds_prefix_space`.
nlohmann::json byte_level_document(const PipelineSource& source, bool adds_prefix_space);

}  // namespace encdec::family_parts
