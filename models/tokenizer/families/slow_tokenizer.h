#pragma once

#include <cstdint>
#include <map>
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

// What the tokenizers share that transformers 5 still has in Python (its class PythonBackend): added tokens are cut out
// of the text, the rest becomes pieces, pieces become ids; and back. Families say how.
class SlowTokenizer : public Tokenizer {
 public:
  std::string decode(std::span<const std::int32_t> ids) const override;
  std::string_view piece(std::int32_t id, TextSide side) const override;
  std::optional<std::int32_t> token_id(std::string_view token) const override;

 protected:
  // `vocabulary` has the special tokens that text may become, if they have ids of their own. `name` is for messages.
  SlowTokenizer(TokenizerSettings settings, Vocabulary vocabulary, std::string name);

  // `max_length` cuts the text, never what is put around it.
  std::vector<std::int32_t> encode_side(std::string_view text, const EncodeOptions& options,
                                        TextSide side) const override;

  // A text without added tokens, cut into pieces: gives them to `take` one after another.
  virtual void cut(std::string_view text, TextSide side, const PieceSink& take) const = 0;
  // The id of a piece, or a token that was cut out of a text; nullopt if it is unknown.
  virtual std::optional<std::int32_t> find_id(std::string_view piece, TextSide side) const;
  // The text of pieces.
  virtual std::string join(const std::vector<std::string>& pieces) const = 0;
  virtual Affixes affixes(const EncodeOptions& options, TextSide side) const = 0;
  // The ids of a text that ends like that get nothing more at their end.
  virtual bool ends_already(const std::vector<std::int32_t>& /*ids*/) const { return false; }
  // What the piece of an id is that neither the vocabulary nor an added token has; nothing if there is no such id.
  virtual std::optional<std::string_view> missing_piece(std::int32_t /*id*/, TextSide /*side*/) const { return {}; }
  virtual const Vocabulary& vocabulary(TextSide /*side*/) const { return vocabulary_; }

  const std::string& name() const { return name_; }
  const TokenizerSettings& settings() const { return settings_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  const AddedTokens& added_tokens() const { return added_tokens_; }
  // Nothing for an id that nothing has.
  std::optional<std::string_view> find_piece(std::int32_t id, TextSide side) const;
  // The text of pieces by a sentencepiece model, which special tokens interrupt, each with `behind` it.
  std::string join_around_tokens(const std::vector<std::string>& pieces, const SentencePieceModel& model,
                                 std::string_view behind) const;
  // The id of the settings' token of this name. Throws TokenizerError if there is none.
  std::int32_t named_id(const std::string& key) const;
  // Throws TokenizerError unless the vocabulary itself has the unknown token.
  void require_unknown() const;
  // The language that is asked for on this side, or else that of the settings; of sources, or else `source`.
  std::string language_of(const EncodeOptions& options, TextSide side, std::string_view source) const;

 private:
  std::string name_;
  TokenizerSettings settings_;
  Vocabulary vocabulary_;
  AddedTokens added_tokens_;
};

}  // namespace encdec
