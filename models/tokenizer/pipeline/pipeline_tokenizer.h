#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/pipeline/added_vocabulary.h"
#include "encdec/models/tokenizer/pipeline/normalizer.h"
#include "encdec/models/tokenizer/pipeline/piece_decoder.h"
#include "encdec/models/tokenizer/pipeline/piece_model.h"
#include "encdec/models/tokenizer/pipeline/post_processor.h"
#include "encdec/models/tokenizer/pipeline/pre_tokenizer.h"
#include "encdec/models/tokenizer/tokenizer.h"

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
    std::vector<AddedVocabulary::Token> added_tokens = {};
    PostProcessor post_processor = {};

    // `max_length` cuts the text, never what is put around it.
    // What to put around a text instead of post_processor.single; for families that put languages there. Throws
    // InputError for a language that it does not know.
    std::function<PostProcessor::Affixes(const EncodeOptions& options, TextSide side)> affixes = {};
    std::vector<Language> languages = {};  // in the order of their ids

    bool clean_up_spaces = false;       // after decoding
    bool split_special_tokens = false;  // special tokens in a text are text
  };

  // Throws TokenizerError, beginning with `name`, if the added tokens do not fit.
  // Without `affixes`, EncodeOptions that name a language are an InputError.
  PipelineTokenizer(Parts parts, const std::string& name);

  using Tokenizer::encode;
  using Tokenizer::encode_target;
  std::string kind() const override { return parts_.kind; }
  std::vector<std::int32_t> encode(std::string_view text, const EncodeOptions& options) const override;
  std::vector<std::int32_t> encode_target(std::string_view text, const EncodeOptions& options) const override;
  std::string decode(std::span<const std::int32_t> ids) const override;
  std::vector<std::string> pieces(std::span<const std::int32_t> ids, TextSide side) const override;

  std::optional<std::int32_t> token_id(std::string_view token) const override;
  std::vector<std::string> languages() const override;
  std::optional<std::int32_t> language_token(std::string_view language) const override;

  // The ids of two texts that belong together, special tokens included.
  std::vector<std::int32_t> encode_pair(std::string_view first, std::string_view second) const;
  // The ids of a text, without special tokens around it.
  std::vector<std::int32_t> encode_plain(std::string_view text) const;

 private:
  std::vector<std::int32_t> encode_side(std::string_view text, const EncodeOptions& options, TextSide side) const;
  void encode_part(PipelineText text, std::vector<std::int32_t>& ids) const;

  Parts parts_;
  std::string name_;
  AddedVocabulary added_;
};

}  // namespace encdec
