#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/families/pipeline_source.h"
#include "encdec/models/tokenizer/pipeline/pipeline_tokenizer.h"

// Building blocks for the pipelines of families.
namespace encdec::family_parts {

using Parts = PipelineParts;

// Create a unigram model from source.pieces, or a byte-pair encoding from source.vocabulary and source.merges. Both
// move their input out of `source`.
PieceModelPtr unigram(PipelineSource& source, std::int32_t unknown_id);
PieceModelPtr byte_pairs(PipelineSource& source, std::optional<std::string> unknown_token);

enum class Spaces { kept, joined };
// Creates a normalizer that applies sentencepiece's table, if there is one. With Spaces::joined it then replaces each
// run of spaces by one space.
Normalizer sentencepiece_normalizer(const PipelineSource& source, Spaces spaces);
enum class Cut { words_first, at_spaces };
// Sets a pre-tokenizer whose words begin with "▁", and its decoder. Cut::words_first removes all whitespace first;
// Cut::at_spaces replaces each space by "▁" and keeps other whitespace.
void use_metaspace(Cut cut, pre_tokenizers::PrependScheme prepend, Parts& parts);

// Adds the tokens and decoding options of source.settings to `parts`.
// REQUIRES: `parts` has its model, normalizer and pre-tokenizer.
void apply_settings(const PipelineSource& source, Parts& parts);
// Calls apply_settings(), and puts two tokens around texts: those with the names `before` and `after` in the settings;
// "" means none. Throws TokenizerError if a token does not exist.
Parts framed(const PipelineSource& source, Parts parts, std::string_view before, std::string_view after);
// Options of with_languages().
struct Languages {
  std::vector<std::string> names = {};  // languages that the vocabulary lacks are dropped
  std::string source = {};              // default source language, if neither settings nor caller name one
  bool is_first = true;                 // the language stands before the text, else after the end token
};
// Calls apply_settings(), puts the end token after texts, and the token of the language before texts or after the end
// token.
Parts with_languages(const PipelineSource& source, Parts parts, const Languages& languages);

}  // namespace encdec::family_parts
