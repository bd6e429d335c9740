#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/models/tokenizer/base/vocabulary.h"

namespace encdec {

// Makes a word into pieces of a vocabulary. Read-only: usable from many threads at once.
class PieceModel {
 public:
  virtual ~PieceModel() = default;

  // The name in tokenizer.json: "Unigram", "BPE", "WordPiece", "WordLevel".
  virtual std::string_view kind() const = 0;
  // Adds the ids of the word's pieces to `ids`. Throws TokenizerError if it has unknown characters and the vocabulary
  // has no piece for those.
  virtual void tokenize(std::string_view word, std::vector<std::int32_t>& ids) const = 0;

  virtual std::optional<std::int32_t> id(std::string_view piece) const = 0;
  // Null for an id that no piece has.
  virtual const std::string* piece(std::int32_t id) const = 0;
  virtual std::size_t size() const = 0;  // pieces
};

// A model whose pieces are those of a vocabulary.
class VocabularyModel : public PieceModel {
 public:
  std::optional<std::int32_t> id(std::string_view piece) const final { return vocabulary_.id(piece); }
  const std::string* piece(std::int32_t id) const final { return vocabulary_.piece(id); }
  std::size_t size() const final { return vocabulary_.size(); }

 protected:
  // `name` begins messages.
  VocabularyModel(Vocabulary vocabulary, std::string name)
      : vocabulary_(std::move(vocabulary)), name_(std::move(name)) {}

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::string& name() const { return name_; }
  // The id of the token that stands for unknown text. Throws TokenizerError if the vocabulary lacks it.
  std::int32_t unknown_id(std::string_view token) const;

 private:
  Vocabulary vocabulary_;
  std::string name_;
};

}  // namespace encdec
