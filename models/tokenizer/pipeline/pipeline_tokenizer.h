#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/base/affixes.h"
#include "encdec/models/tokenizer/base/tokenizer.h"
#include "encdec/models/tokenizer/base/tokenizer_settings.h"
#include "encdec/models/tokenizer/pipeline/normalizer.h"
#include "encdec/models/tokenizer/pipeline/piece_decoder.h"
#include "encdec/models/tokenizer/pipeline/piece_model.h"
#include "encdec/models/tokenizer/pipeline/pre_tokenizer.h"

namespace encdec {

// The parts of a pipeline tokenizer.
struct PipelineParts {
  struct Language {
    std::string name;  // as in EncodeOptions
    std::int32_t token;
  };

  std::string kind;  // Tokenizer::kind(): "unigram"
  PieceModelPtr model;
  // An empty function does nothing. Without a decoder, decoding puts spaces between pieces.
  Normalizer normalizer = {};
  PreTokenizer pre_tokenizer = {};
  PieceDecoder decoder = {};
  std::vector<AddedToken> added_tokens = {};

  // The tokens around a text. EncodeOptions::max_length shortens the text, not the affixes.
  Affixes affixes = {};
  // Returns the tokens around a text, and replaces `affixes`, for families in which they depend on the language. Throws
  // InputError for an unknown language.
  std::function<Affixes(const EncodeOptions& options, TextSide side)> language_affixes = {};
  std::vector<Language> languages = {};  // in the order of their ids

  TruncationSide truncation_side = TruncationSide::right;  // default of EncodeOptions
  bool has_segments = true;                                // whether pairs have a second segment

  bool marks_continuing_pieces = false;  // Tokenizer::marks_continuing_pieces()
  std::string unknown_token = {};        // empty for none
  bool clean_up_spaces = false;          // call clean_up_spaces() after decoding
  bool split_special_tokens = false;     // treat special tokens in a text as plain text
};

// Creates a tokenizer that equals Hugging Face's tokenizers 0.23 with the same parts. Encoding cuts out added tokens,
// then applies normalizer, pre-tokenizer and model, and adds the affixes. Throws TokenizerError, beginning with `name`,
// for invalid added tokens. Without `language_affixes`, encode() throws InputError if the options name a language.
std::unique_ptr<Tokenizer> pipeline_tokenizer(PipelineParts parts, const std::string& name);

}  // namespace encdec
