#pragma once

#include <string>
#include <vector>

#include "encdec/models/tokenizer/pipeline/piece_model.h"
#include "encdec/models/tokenizer/vocabulary.h"

namespace encdec {

// Each word is a piece, or unknown.
class WordLevel final : public PieceModel {
 public:
  struct Options {
    Vocabulary vocabulary;
    std::string unknown_token = "<unk>";
  };

  WordLevel(Options options, std::string name);

  std::string_view kind() const override { return "WordLevel"; }
  void tokenize(std::string_view word, std::vector<std::int32_t>& ids) const override;
  std::optional<std::int32_t> id(std::string_view piece) const override { return vocabulary_.id(piece); }
  const std::string* piece(std::int32_t id) const override { return vocabulary_.piece(id); }
  std::size_t size() const override { return vocabulary_.size(); }

 private:
  Vocabulary vocabulary_;
  std::string unknown_token_;
  std::string name_;
};

}  // namespace encdec
