#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/named_values.h"

namespace encdec {

// The two texts of a translation. A checkpoint may have a vocabulary for each text.
enum class TextSide { source, target };

// The side at which a text is truncated (transformers' truncation_side).
enum class TruncationSide : std::uint8_t { right, left };

inline constexpr std::array kTruncationSides = {
    Named{TruncationSide::right, "right"},
    Named{TruncationSide::left, "left"},
};

// The text of a pair that is truncated if the pair is too long (transformers' TruncationStrategy).
enum class Truncation : std::uint8_t {
  longest_first,  // the longer text until both are equally long, then both
  only_first,
  only_second,
};

inline constexpr std::array kTruncationNames = {
    Named{Truncation::longest_first, "longest_first"},
    Named{Truncation::only_first, "only_first"},
    Named{Truncation::only_second, "only_second"},
};

struct EncodeOptions {
  // The languages for multilingual models, spelled as in the checkpoint ("fra_Latn", "fr_XX", "fr"). Empty means the
  // checkpoint's default.
  std::string source_language = {};
  std::string target_language = {};
  // Maximum number of ids, including special tokens. Longer texts are truncated. 0 means no limit.
  std::size_t max_length = 0;
  std::optional<TruncationSide> truncation_side = {};  // default: from the tokenizer's files, else right
  Truncation truncation = Truncation::longest_first;   // for pairs
};

// Value of Encoding::second_segment if there is no second segment.
inline constexpr std::size_t kNoSecondSegment = std::numeric_limits<std::size_t>::max();

// A range of a text, [begin, end) in characters (code points).
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// A tokenized text or pair of texts.
struct Encoding {
  std::vector<std::int32_t> ids = {};
  // Index of the first id of the second segment (Devlin et al. 2019, section 3). transformers' token_type_ids are 0
  // before this index, and 1 at and after it.
  std::size_t second_segment = kNoSecondSegment;
  // Set by encode_with_ranges(): the range of the text for each id; empty for special tokens.
  std::vector<TextRange> ranges = {};
  std::size_t special_before = 0, special_after = 0;  // number of special tokens around the text
};

// Converts text to token ids and back, with the same results as the checkpoint's original tokenizer. Read-only and
// thread-safe.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Returns a description: "unigram", "byte-level BPE", "WordPiece", "sentencepiece with vocab.json", "bytes".
  virtual std::string kind() const = 0;

  // Returns the ids of an input of the encoder or of a decoder-only model, including special tokens. Throws
  // TokenizerError, with the byte offset, if `text` is not UTF-8, and InputError for an unknown language.
  std::vector<std::int32_t> encode(std::string_view text, const EncodeOptions& options = {}) const {
    return encode_side(text, options, TextSide::source);
  }
  // Returns the ids of a target, including special tokens. Throws as encode() does.
  std::vector<std::int32_t> encode_target(std::string_view text, const EncodeOptions& options = {}) const {
    return encode_side(text, options, TextSide::target);
  }
  // Returns the ids of two texts in one input. Throws as encode() does, and InputError if the tokenizer does not
  // support pairs.
  Encoding encode_pair(std::string_view first, std::string_view second, const EncodeOptions& options = {}) const {
    return join_pair(encode_segment(first), encode_segment(second), options);
  }
  // The two steps of encode_pair(). encode_segment() returns the ids of one text without special tokens; join_pair()
  // truncates and joins two of them.
  virtual std::vector<std::int32_t> encode_segment(std::string_view text) const;
  virtual Encoding join_pair(std::span<const std::int32_t> /*first*/, std::span<const std::int32_t> /*second*/,
                             const EncodeOptions& /*options*/) const {
    return {};
  }
  // Encodes like encode(), and also returns the range of the text for each id (transformers' offset_mapping). Throws as
  // encode() does, and InputError if has_ranges() is false.
  virtual Encoding encode_with_ranges(std::string_view text, const EncodeOptions& options = {}) const;
  virtual bool has_ranges() const { return false; }
  // Returns the text of generated ids, without special tokens. Throws InputError for an id that is not in the target
  // vocabulary.
  virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
  // Returns the subword or special token with this id, spelled as in the vocabulary. Throws InputError for an id that
  // is not in the vocabulary of that side.
  virtual std::string_view piece(std::int32_t id, TextSide side) const = 0;
  std::vector<std::string> pieces(std::span<const std::int32_t> ids, TextSide side) const;

  // Returns the text of subwords, like transformers' convert_tokens_to_string().
  // REQUIRES: has_ranges().
  virtual std::string join(std::vector<std::string> pieces) const;
  // Returns whether subwords that continue a word are spelled with a prefix, such as "##ing".
  virtual bool marks_continuing_pieces() const { return false; }
  // Returns the id of the unknown token; nullopt if there is none.
  virtual std::optional<std::int32_t> unknown_token() const { return std::nullopt; }

  // Returns the id of a token of the target vocabulary; nullopt if the vocabulary lacks the token.
  virtual std::optional<std::int32_t> token_id(std::string_view token) const = 0;
  // Returns the languages that EncodeOptions accepts, in the order of their ids. Empty for models without languages.
  virtual std::vector<std::string> languages() const { return {}; }
  // Returns the id of the token that marks a text's language; nullopt if `language` is unknown.
  virtual std::optional<std::int32_t> language_token(std::string_view /*language*/) const { return std::nullopt; }

 protected:
  // Implements encode() and encode_target().
  virtual std::vector<std::int32_t> encode_side(std::string_view text, const EncodeOptions& options,
                                                TextSide side) const = 0;
};

// For tokenizers without languages: throws InputError, beginning with `name`, if the options contain a language.
void refuse_languages(const EncodeOptions& options, std::string_view name);

// Decodes like Tokenizer::decode(), but skips ids that the vocabulary lacks. A model can generate such ids if its
// embedding has more rows than the vocabulary has tokens.
std::string decode_known(const Tokenizer& tokenizer, std::span<const std::int32_t> ids);

// Encodes a part of a target: encodes like encode_target(), but without the special tokens that encode_target() returns
// for an empty text.
std::vector<std::int32_t> encode_target_part(const Tokenizer& tokenizer, std::string_view text,
                                             const EncodeOptions& options = {});

// Encodes a phrase of a target that follows a space. Many tokenizers give such a phrase different ids than a phrase at
// the beginning of a text (see encode_target_part()). Throws as encode_target() does.
std::vector<std::int32_t> encode_after_space(const Tokenizer& tokenizer, std::string_view phrase,
                                             const EncodeOptions& options = {});

}  // namespace encdec
