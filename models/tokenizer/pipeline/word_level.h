#pragma once

#include <string>
#include <vector>

#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/pipeline/piece_model.h"

namespace encdec {

// Each word is a piece, or unknown.
class WordLevel final : public VocabularyModel {
 public:
  struct Options {
    Vocabulary vocabulary;
    std::string unknown_token = "<unk>";
  };

  WordLevel(Options options, std::string name);

  std::string_view kind() const override { return "WordLevel"; }
  void tokenize(std::string_view word, std::vector<std::int32_t>& ids) const override;

 private:
  std::string unknown_token_;
};

}  // namespace encdec
