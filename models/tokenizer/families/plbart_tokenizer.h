#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "encdec/models/tokenizer/families/slow_tokenizer.h"
#include "encdec/models/tokenizer/sentencepiece/sentencepiece_model.h"
#include "encdec/models/tokenizer/sentencepiece/sentencepiece_proto.h"

namespace encdec {

// PLBart's: X </s> LANGUAGE, or X </s> where no language is given. A sentencepiece model with fairseq's ids;
// programming languages are written "java" or "__java__".
class PLBartTokenizer final : public SlowTokenizer {
 public:
  struct Files {
    std::string model;  // the content of sentencepiece.bpe.model
    TokenizerFiles settings;
  };

  // From sentencepiece.bpe.model and the files of TokenizerFiles.
  static std::unique_ptr<Tokenizer> load(const std::filesystem::path& folder);

  // Throws TokenizerError, beginning with `name`, if a named token is missing.
  PLBartTokenizer(const Files& files, const std::string& name);

  std::string kind() const override { return "sentencepiece"; }
  std::vector<std::string> languages() const override { return languages_; }
  std::optional<std::int32_t> language_token(std::string_view language) const override;

 protected:
  std::vector<std::string> cut(std::string_view text, TextSide /*side*/) const override { return model_.encode(text); }
  std::optional<std::int32_t> find_id(std::string_view piece, TextSide /*side*/) const override;
  std::string join(const std::vector<std::string>& pieces) const override;
  Affixes affixes(const EncodeOptions& options, TextSide side) const override;

 private:
  SentencePieceModel model_;
  std::vector<std::string> languages_;  // without the underscores
  std::string default_language_;        // of sources
};

}  // namespace encdec
