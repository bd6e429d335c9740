#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/families/slow_tokenizer.h"
#include "encdec/models/tokenizer/sentencepiece/sentencepiece_model.h"

namespace encdec {

// The tokenizer of OPUS-MT checkpoints, equal to transformers 5's MarianTokenizer: text is cut into pieces by a
// sentencepiece model (one for each side), pieces become ids by vocab.json, and the end token comes last. A language
// code such as >>fra<< at the start is a piece of its own. Pieces that vocab.json does not have become <unk>.
class MarianTokenizer final : public SlowTokenizer {
 public:
  struct Parts {
    SentencePieceModel source_model;
    SentencePieceModel target_model;
    Vocabulary vocabulary;
    std::optional<Vocabulary> target_vocabulary;  // if the sides have separate ones
    TokenizerSettings settings;
  };

  // The named tokens of checkpoints whose files do not say otherwise.
  static std::map<std::string, std::string> default_tokens();

  // From source.spm, target.spm, vocab.json, target_vocab.json (with separate_vocabs only) and the files of
  // TokenizerFiles.
  static std::unique_ptr<Tokenizer> load(const std::filesystem::path& folder);

  // Throws TokenizerError, beginning with `name`, if the vocabulary lacks the unknown token or there is no end token.
  MarianTokenizer(Parts parts, std::string name);

  std::string kind() const override { return "sentencepiece with vocab.json"; }
  const std::string& piece(std::int32_t id, TextSide side) const override;

  // Those whose code is a piece of the vocabulary.
  std::vector<std::string> languages() const override;
  std::optional<std::int32_t> language_token(std::string_view language) const override;

 protected:
  // A target language is put in front of the source as >>code<<, unless the text begins with a code of its own.
  std::vector<std::int32_t> encode_side(std::string_view text, const EncodeOptions& options,
                                        TextSide side) const override;
  std::vector<std::string> cut(std::string_view text, TextSide side) const override;
  // Unknown pieces are the unknown token.
  std::optional<std::int32_t> find_id(std::string_view piece, TextSide side) const override;
  std::string join(const std::vector<std::string>& pieces) const override;
  Affixes affixes(const EncodeOptions& options, TextSide side) const override;
  // An id that the vocabulary lacks stands for the sentencepiece model's piece of that number, if it has one.
  const std::string* missing_piece(std::int32_t id, TextSide side) const override;
  const Vocabulary& vocabulary(TextSide side) const override;

 private:
  const SentencePieceModel& decoding_model(TextSide side) const;

  SentencePieceModel source_model_;
  SentencePieceModel target_model_;
  std::optional<Vocabulary> target_vocabulary_;
  std::int32_t end_id_;
};

}  // namespace encdec
