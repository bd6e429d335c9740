#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/base/affixes.h"
#include "encdec/models/tokenizer/base/tokenizer.h"
#include "encdec/models/tokenizer/pipeline/added_vocabulary.h"
#include "encdec/models/tokenizer/pipeline/normalizer.h"
#include "encdec/models/tokenizer/pipeline/piece_decoder.h"
#include "encdec/models/tokenizer/pipeline/piece_model.h"
#include "encdec/models/tokenizer/pipeline/pre_tokenizer.h"

namespace encdec {

// A tokenizer put together from parts, equal to Hugging Face's tokenizers 0.23 of the same parts:
// added tokens are cut out -> normalizer -> pre-tokenizer -> model -> special tokens around; and back by the decoder.
class PipelineTokenizer final : public Tokenizer {
 public:
  struct Language {
    std::string name;  // as EncodeOptions give it
    std::int32_t token;
  };

  struct Parts {
    std::string kind;  // for people: "unigram"
    std::unique_ptr<const PieceModel> model;
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

  // Throws TokenizerError, beginning with `name`, if the added tokens do not fit.
  // Without `language_affixes`, EncodeOptions that name a language are an InputError.
  PipelineTokenizer(Parts parts, const std::string& name);

  std::string kind() const override { return parts_.kind; }
  std::string decode(std::span<const std::int32_t> ids) const override;
  const std::string& piece(std::int32_t id, TextSide side) const override;

  std::optional<std::int32_t> token_id(std::string_view token) const override;
  std::vector<std::string> languages() const override;
  std::optional<std::int32_t> language_token(std::string_view language) const override;

  // The ids of a text, without special tokens around it.
  std::vector<std::int32_t> encode_plain(std::string_view text) const;

 private:
  std::vector<std::int32_t> encode_side(std::string_view text, const EncodeOptions& options,
                                        TextSide side) const override;
  void encode_part(PipelineText text, std::vector<std::int32_t>& ids) const;

  Parts parts_;
  std::string name_;
  AddedVocabulary added_;
};

}  // namespace encdec
