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

// The two texts of a translation. A checkpoint may have a vocabulary for each.
enum class TextSide { source, target };

// The side of a text at which tokens are cut off (transformers' truncation_side).
enum class TruncationSide : std::uint8_t { right, left };

inline constexpr std::array kTruncationSides = {
    Named{TruncationSide::right, "right"},
    Named{TruncationSide::left, "left"},
};

// The texts of a pair that are shortened if the pair is too long (transformers' TruncationStrategy).
enum class Truncation : std::uint8_t {
  longest_first,  // the longer one, until both are equally long; then both
  only_first,
  only_second,
};

inline constexpr std::array kTruncationNames = {
    Named{Truncation::longest_first, "longest_first"},
    Named{Truncation::only_first, "only_first"},
    Named{Truncation::only_second, "only_second"},
};

// Options of Tokenizer::encode(), encode_target() and encode_pair().
struct EncodeOptions {
  // Languages for multilingual models, as the checkpoint spells them ("fra_Latn", "fr_XX", "fr"). Empty means the
  // checkpoint's default.
  std::string source_language = {};
  std::string target_language = {};
  // Maximum number of ids, special tokens included. A longer text is cut. 0 means no limit.
  std::size_t max_length = 0;
  std::optional<TruncationSide> truncation_side = {};  // default: what the tokenizer's files say, else right
  Truncation truncation = Truncation::longest_first;   // for pairs
};

// Encoding::second_segment if there is none.
inline constexpr std::size_t kNoSecondSegment = std::numeric_limits<std::size_t>::max();

// A part of a text, [begin, end) in characters (code points).
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// A text or a pair of texts as a model reads it.
struct Encoding {
  std::vector<std::int32_t> ids = {};
  // Index of the first id of the second segment: Devlin et al. 2019, section 3. transformers' token_type_ids are 1 from
  // there on and 0 before.
  std::size_t second_segment = kNoSecondSegment;
  // Set by encode_with_ranges(). For each id, the part of the text that it stands for; empty for special tokens.
  std::vector<TextRange> ranges = {};
  std::size_t special_before = 0, special_after = 0;  // numbers of special tokens around the text
};

// A tokenizer: text to token ids and back, with the same results as the checkpoint's original tokenizer. Read-only and
// thread-safe.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Returns a description for people: "unigram", "byte-level BPE", "WordPiece", "sentencepiece with vocab.json",
  // "bytes".
  virtual std::string kind() const = 0;

  // Returns the ids of a source for the encoder (or for a decoder-only model), special tokens included. Throws
  // TokenizerError, with the byte offset, if `text` is not UTF-8, and InputError for an unknown language.
  std::vector<std::int32_t> encode(std::string_view text, const EncodeOptions& options = {}) const {
    return encode_side(text, options, TextSide::source);
  }
  // Returns the ids of a target, special tokens included. Throws as encode() does.
  std::vector<std::int32_t> encode_target(std::string_view text, const EncodeOptions& options = {}) const {
    return encode_side(text, options, TextSide::target);
  }
  // Returns the ids of two texts that the model reads together, as a source. Throws as encode() does, and InputError if
  // the tokenizer has no form for pairs.
  Encoding encode_pair(std::string_view first, std::string_view second, const EncodeOptions& options = {}) const {
    return join_pair(encode_segment(first), encode_segment(second), options);
  }
  // Two steps of encode_pair(): the ids of one text without special tokens, and the pair from the ids of both.
  virtual std::vector<std::int32_t> encode_segment(std::string_view text) const;
  virtual Encoding join_pair(std::span<const std::int32_t> /*first*/, std::span<const std::int32_t> /*second*/,
                             const EncodeOptions& /*options*/) const {
    return {};
  }
  // Returns the ids of encode() and the parts of the text that they stand for: offset_mapping in transformers. Throws
  // as encode() does, and InputError if the tokenizer does not know these parts.
  virtual Encoding encode_with_ranges(std::string_view text, const EncodeOptions& options = {}) const;
  // Returns whether encode_with_ranges() can be called.
  virtual bool has_ranges() const { return false; }
  // Returns the text of generated ids, without special tokens. Throws InputError for an id that the target vocabulary
  // does not have.
  virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
  // Returns the piece or special token with this id, spelled as in the vocabulary. Throws InputError for an id that the
  // vocabulary of that side does not have.
  virtual std::string_view piece(std::int32_t id, TextSide side) const = 0;
  // Returns piece() of each id.
  std::vector<std::string> pieces(std::span<const std::int32_t> ids, TextSide side) const;

  // Returns the text of pieces: transformers' convert_tokens_to_string(). For tokenizers with encode_with_ranges().
  virtual std::string join(std::vector<std::string> pieces) const;
  // Returns whether pieces that continue a word are spelled with a prefix, such as "##ing".
  virtual bool marks_continuing_pieces() const { return false; }
  // Returns the token for unknown characters; nullopt if there is none.
  virtual std::optional<std::int32_t> unknown_token() const { return std::nullopt; }

  // Returns the id of a token, spelled as in the target vocabulary; nullopt if the vocabulary does not have the token.
  virtual std::optional<std::int32_t> token_id(std::string_view token) const = 0;
  // Returns the languages that EncodeOptions may name, in the order of their ids; empty if the model has no languages.
  virtual std::vector<std::string> languages() const { return {}; }
  // Returns the token that marks a source or target as being in `language`; nullopt if the language is unknown.
  virtual std::optional<std::int32_t> language_token(std::string_view /*language*/) const { return std::nullopt; }

 protected:
  // Implements encode() and encode_target().
  virtual std::vector<std::int32_t> encode_side(std::string_view text, const EncodeOptions& options,
                                                TextSide side) const = 0;
};

// Throws InputError, beginning with `name`, if the options name a language. For tokenizers without languages.
void refuse_languages(const EncodeOptions& options, std::string_view name);

// Decodes like Tokenizer::decode(), but skips ids that the vocabulary lacks. A model can generate such ids if its
// embedding has more rows than the vocabulary has pieces.
std::string decode_known(const Tokenizer& tokenizer, std::span<const std::int32_t> ids);

// Returns the ids of encode_target() without the special tokens around them, to encode a part of a target. The special
// tokens are those that encode_target() returns for an empty text.
std::vector<std::int32_t> encode_target_part(const Tokenizer& tokenizer, std::string_view text,
                                             const EncodeOptions& options = {});

// Returns the ids of a phrase that follows a space within a target. Many tokenizers give a phrase other ids there than
// at the beginning of a text (see encode_target_part()). Throws as encode_target() does.
std::vector<std::int32_t> encode_after_space(const Tokenizer& tokenizer, std::string_view phrase,
                                             const EncodeOptions& options = {});

}  // namespace encdec
