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

// A base class of the tokenizers that are written in Python in transformers 5 (class PythonBackend). It cuts added
// tokens out of the text, cuts the rest into pieces, and looks up their ids; decoding goes the other way. Families
// override the single steps.
class SlowTokenizer : public Tokenizer {
 public:
  std::string decode(std::span<const std::int32_t> ids) const override;
  std::string_view piece(std::int32_t id, TextSide side) const override;
  std::optional<std::int32_t> token_id(std::string_view token) const override;

 protected:
  // Special tokens that are in `vocabulary` keep their ids there; the others get new ids. `name` is for messages.
  SlowTokenizer(TokenizerSettings settings, Vocabulary vocabulary, std::string name);

  // EncodeOptions::max_length shortens the text, not the affixes.
  std::vector<std::int32_t> encode_side(std::string_view text, const EncodeOptions& options,
                                        TextSide side) const override;

  // Cuts a text without added tokens into pieces. Calls `take` with each piece, in order.
  virtual void cut(std::string_view text, TextSide side, const PieceSink& take) const = 0;
  // Returns the id of a piece or an added token; nullopt if it is unknown.
  virtual std::optional<std::int32_t> find_id(std::string_view piece, TextSide side) const;
  // Returns the text of pieces.
  virtual std::string join(const std::vector<std::string>& pieces) const = 0;
  virtual Affixes affixes(const EncodeOptions& options, TextSide side) const = 0;
  // Returns whether the ids of a text already end with the end token. Then Affixes::after is not added.
  virtual bool ends_already(const std::vector<std::int32_t>& /*ids*/) const { return false; }
  // Returns the piece for an id that neither the vocabulary nor an added token has; nullopt if there is none.
  virtual std::optional<std::string_view> missing_piece(std::int32_t /*id*/, TextSide /*side*/) const { return {}; }
  virtual const Vocabulary& vocabulary(TextSide /*side*/) const { return vocabulary_; }

  const std::string& name() const { return name_; }
  const TokenizerSettings& settings() const { return settings_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  const AddedTokens& added_tokens() const { return added_tokens_; }
  // Returns the added token, vocabulary piece or missing_piece() with this id; nullopt if there is none.
  std::optional<std::string_view> find_piece(std::int32_t id, TextSide side) const;
  // Decodes the runs of pieces between special tokens with `model`. Copies each special token, followed by `behind`.
  std::string join_around_tokens(const std::vector<std::string>& pieces, const SentencePieceModel& model,
                                 std::string_view behind) const;
  // Returns the id of the settings' token with the name `key`. Throws TokenizerError if there is none.
  std::int32_t named_id(const std::string& key) const;
  // Throws TokenizerError unless the vocabulary itself (not only the added tokens) has the unknown token.
  void require_unknown() const;
  // Returns the language that the options name for this side, else that of the settings, else `source` for a source and
  // "" for a target.
  std::string language_of(const EncodeOptions& options, TextSide side, std::string_view source) const;

 private:
  std::string name_;
  TokenizerSettings settings_;
  Vocabulary vocabulary_;
  AddedTokens added_tokens_;
};

}  // namespace encdec
