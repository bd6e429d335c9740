#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/base/added_tokens.h"
#include "encdec/models/tokenizer/base/affixes.h"
#include "encdec/models/tokenizer/base/tokenizer.h"
#include "encdec/models/tokenizer/base/tokenizer_settings.h"
#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/sentencepiece/sentencepiece_model.h"

namespace encdec {

// The base class of tokenizers that are written in Python in transformers 5 (class PythonBackend). Encoding splits off
// added tokens, splits the rest into subwords, and looks up their ids. Families override these steps.
class SlowTokenizer : public Tokenizer {
 public:
  std::string decode(std::span<const std::int32_t> ids) const override;
  std::string_view piece(std::int32_t id, TextSide side) const override;
  std::optional<std::int32_t> token_id(std::string_view token) const override;

 protected:
  // Special tokens that `vocabulary` lacks get new ids. Error messages begin with `name`.
  SlowTokenizer(TokenizerSettings settings, Vocabulary vocabulary, std::string name);

  // EncodeOptions::max_length truncates the text, not the affixes.
  std::vector<std::int32_t> encode_side(std::string_view text, const EncodeOptions& options,
                                        TextSide side) const override;

  // Splits a text without added tokens into subwords. Calls `take` with each subword, in order.
  virtual void cut(std::string_view text, TextSide side, const PieceSink& take) const = 0;
  // Returns the id of a subword or an added token; nullopt if neither exists.
  virtual std::optional<std::int32_t> find_id(std::string_view piece, TextSide side) const;
  virtual std::string join(const std::vector<std::string>& pieces) const = 0;  // converts subwords to text
  virtual Affixes affixes(const EncodeOptions& options, TextSide side) const = 0;
  // Returns whether a text's ids already end with the end token. If so, Affixes::after is not added.
  virtual bool ends_already(const std::vector<std::int32_t>& /*ids*/) const { return false; }
  // Returns the subword for an id that is neither in the vocabulary nor an added token; nullopt if there is none.
  virtual std::optional<std::string_view> missing_piece(std::int32_t /*id*/, TextSide /*side*/) const { return {}; }
  virtual const Vocabulary& vocabulary(TextSide /*side*/) const { return vocabulary_; }

  const std::string& name() const { return name_; }
  const TokenizerSettings& settings() const { return settings_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  const AddedTokens& added_tokens() const { return added_tokens_; }
  // Returns the added token or the vocabulary's subword with this id, or else missing_piece().
  std::optional<std::string_view> find_piece(std::int32_t id, TextSide side) const;
  // Decodes the subwords between special tokens with `model`. Copies the special tokens, and appends `behind` to each.
  std::string join_around_tokens(const std::vector<std::string>& pieces, const SentencePieceModel& model,
                                 std::string_view behind) const;
  // Returns the id of the named token `key`. Throws TokenizerError if there is no such token.
  std::int32_t named_id(const std::string& key) const;
  // Throws TokenizerError unless the vocabulary contains the unknown token. An added token is not enough.
  void require_unknown() const;
  // Returns the language from the options, else from the settings, else `source` for a source or "" for a target.
  std::string language_of(const EncodeOptions& options, TextSide side, std::string_view source) const;

 private:
  std::string name_;
  TokenizerSettings settings_;
  Vocabulary vocabulary_;
  AddedTokens added_tokens_;
};

}  // namespace encdec
