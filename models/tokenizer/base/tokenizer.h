#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// The two texts of a translation. A checkpoint may have a vocabulary for each.
enum class TextSide { source, target };

// What a caller may ask of encoding.
struct EncodeOptions {
  // Languages of multilingual models, as the checkpoint spells them ("fra_Latn", "fr_XX", "fr"); empty: the
  // checkpoint's defaults.
  std::string source_language = {};
  std::string target_language = {};  // likewise
  // Most ids, special tokens included; what is too much is cut off the end of the text. 0 for no limit.
  std::size_t max_length = 0;
};

// Text to token ids and back, as a checkpoint's own tokenizer does it. Read-only: usable from many threads at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // What it is, for people: "unigram", "byte-level BPE", "WordPiece", "sentencepiece with vocab.json", "bytes".
  virtual std::string kind() const = 0;

  // The ids that the encoder (or a decoder-only model) gets for a source, special tokens included. `text` is UTF-8;
  // throws TokenizerError, with the byte offset, if it is not, and InputError for a language that is not known.
  std::vector<std::int32_t> encode(std::string_view text, const EncodeOptions& options = {}) const {
    return encode_side(text, options, TextSide::source);
  }
  // The ids that stand for a target, special tokens included.
  std::vector<std::int32_t> encode_target(std::string_view text, const EncodeOptions& options = {}) const {
    return encode_side(text, options, TextSide::target);
  }
  // The text that generated ids stand for; special tokens are left out. Throws InputError for an id that the target
  // vocabulary does not have.
  virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
  // What an id stands for, a special token too, spelled as in the vocabulary. Throws InputError for an id that the
  // vocabulary of that side does not have.
  virtual std::string_view piece(std::int32_t id, TextSide side) const = 0;
  // The same for many.
  std::vector<std::string> pieces(std::span<const std::int32_t> ids, TextSide side) const;

  // The id of a token of the target side, spelled as in the vocabulary; nullopt if there is none.
  virtual std::optional<std::int32_t> token_id(std::string_view token) const = 0;
  // Languages that EncodeOptions may name, in the order of their ids; empty where the model does not know languages.
  virtual std::vector<std::string> languages() const { return {}; }
  // The token that stands for a language in front of a source or target; nullopt if the language is not known.
  virtual std::optional<std::int32_t> language_token(std::string_view /*language*/) const { return std::nullopt; }

 protected:
  // What encode() does once it has checked the text, on one side.
  virtual std::vector<std::int32_t> encode_side(std::string_view text, const EncodeOptions& options,
                                                TextSide side) const = 0;
};

// For tokenizers without languages. Throws InputError, beginning with `name`, if one is asked for.
void refuse_languages(const EncodeOptions& options, std::string_view name);

// The same as decode(), but ids that the vocabulary lacks are left out: models may have more rows than their vocabulary
// has pieces, and generate them.
std::string decode_known(const Tokenizer& tokenizer, std::span<const std::int32_t> ids);

// The ids of a part of a target: those of encode_target() without the special tokens around them, which are what an
// empty text gives.
std::vector<std::int32_t> encode_target_part(const Tokenizer& tokenizer, std::string_view text,
                                             const EncodeOptions& options = {});

// The ids of a phrase that stands after a space within a target: many tokenizers spell it otherwise than the beginning
// of a text, which encode_target_part() gives. Throws as encode_target() does.
std::vector<std::int32_t> encode_after_space(const Tokenizer& tokenizer, std::string_view phrase,
                                             const EncodeOptions& options = {});

}  // namespace encdec
