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

struct PipelineParts {
  struct Language {
    std::string name;  // as in EncodeOptions
    std::int32_t token;
  };

  std::string kind;  // see Tokenizer::kind()
  PieceModelPtr model;
  // Each of these may be empty. Without a decoder, decoding joins subwords with spaces.
  Normalizer normalizer = {};
  PreTokenizer pre_tokenizer = {};
  PieceDecoder decoder = {};
  std::vector<AddedToken> added_tokens = {};

  // EncodeOptions::max_length truncates the text, not the affixes.
  Affixes affixes = {};
  // Replaces `affixes` in families whose affixes depend on the language. Throws InputError for an unknown language.
  std::function<Affixes(const EncodeOptions& options, TextSide side)> language_affixes = {};
  std::vector<Language> languages = {};  // in the order of their ids

  TruncationSide truncation_side = TruncationSide::right;  // default of EncodeOptions
  bool has_segments = true;                                // whether the model reads segments of pairs

  bool marks_continuing_pieces = false;  // Tokenizer::marks_continuing_pieces()
  std::string unknown_token = {};        // empty: no unknown token
  bool clean_up_spaces = false;          // call clean_up_spaces() after decoding
  bool split_special_tokens = false;     // treat special tokens in a text as plain text
};

// Creates a tokenizer with the results of Hugging Face's tokenizers 0.23 for the same parts. Encoding splits off added
// tokens, applies normalizer, pre-tokenizer and model, and adds the affixes. Throws TokenizerError, beginning with
// `name`, for invalid added tokens. Without `language_affixes`, encode() refuses options with a language.
std::unique_ptr<Tokenizer> pipeline_tokenizer(PipelineParts parts, const std::string& name);

}  // namespace encdec
