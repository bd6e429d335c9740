#pragma once

#include <memory>
#include <vector>

#include "encdec/models/tokenizer/families/slow_tokenizer.h"
#include "encdec/models/tokenizer/sentencepiece/sentencepiece_model.h"

namespace encdec {

// M2M-100's: LANGUAGE X </s>. A sentencepiece model cuts texts, vocab.json has the ids of pieces, and the languages
// follow as __en__ and so on. As in transformers 5, these are special tokens only if the files list them as such.
class M2M100Tokenizer final : public SlowTokenizer {
 public:
  struct Files {
    SentencePieceModel model;
    Vocabulary vocabulary;
    TokenizerFiles settings;
  };

  // From sentencepiece.bpe.model, vocab.json and the files of TokenizerFiles.
  static std::unique_ptr<Tokenizer> load(const std::filesystem::path& folder);

  // Throws TokenizerError, beginning with `name`, if languages have no place or a named token is missing.
  M2M100Tokenizer(Files files, std::string name);

  std::string kind() const override { return "sentencepiece with vocab.json"; }
  std::vector<std::string> languages() const override { return languages_; }
  std::optional<std::int32_t> language_token(std::string_view language) const override;

 protected:
  std::vector<std::string> cut(std::string_view text, TextSide /*side*/) const override { return model_.encode(text); }
  std::string join(const std::vector<std::string>& pieces) const override;
  Affixes affixes(const EncodeOptions& options, TextSide side) const override;
  const std::string* missing_piece(std::int32_t id, TextSide /*side*/) const override;

 private:
  SentencePieceModel model_;
  std::vector<std::string> languages_;
  std::int32_t first_filler_;  // ids from here on have a row in the model's tables, and no piece
  std::int32_t fillers_;
};

}  // namespace encdec
