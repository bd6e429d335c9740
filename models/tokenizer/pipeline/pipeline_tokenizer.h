#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/base/added_token.h"
#include "encdec/models/tokenizer/base/affixes.h"
#include "encdec/models/tokenizer/base/tokenizer.h"
#include "encdec/models/tokenizer/pipeline/normalizer.h"
#include "encdec/models/tokenizer/pipeline/piece_decoder.h"
#include "encdec/models/tokenizer/pipeline/piece_model.h"
#include "encdec/models/tokenizer/pipeline/pre_tokenizer.h"

namespace encdec {

// What a tokenizer is put together from.
struct PipelineParts {
  struct Language {
    std::string name;  // as EncodeOptions give it
    std::int32_t token;
  };

  std::string kind;  // for people: "unigram"
  PieceModelPtr model;
  // Empty where nothing is done. Without a decoder, decoding puts spaces between pieces.
  Normalizer normalizer = {};
  PreTokenizer pre_tokenizer = {};
  PieceDecoder decoder = {};
  std::vector<AddedToken> added_tokens = {};

  // What to put around a text; EncodeOptions::max_length cuts the text, never that.
  Affixes affixes = {};
  // The same for families that put languages there. Throws InputError for a language that it does not know.
  std::function<Affixes(const EncodeOptions& options, TextSide side)> language_affixes = {};
  std::vector<Language> languages = {};  // in the order of their ids

  bool clean_up_spaces = false;       // after decoding
  bool split_special_tokens = false;  // special tokens in a text are text
};

// A tokenizer equal to Hugging Face's tokenizers 0.23 of the same parts: added tokens are cut out -> normalizer ->
// pre-tokenizer -> model -> special tokens around; and back by the decoder. Throws TokenizerError, beginning with
// `name`, if the added tokens do not fit. Without `language_affixes`, EncodeOptions that name a language are an
// InputError.
std::unique_ptr<Tokenizer> pipeline_tokenizer(PipelineParts parts, const std::string& name);

}  // namespace encdec
