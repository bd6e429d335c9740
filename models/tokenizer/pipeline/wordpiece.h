#pragma once

#include <string>
#include <vector>

#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/pipeline/byte_trie.h"
#include "encdec/models/tokenizer/pipeline/piece_model.h"

namespace encdec {

// BERT's model: the longest piece that a word begins with, then the longest of those that go on ("##ing"), and so on. A
// word that is too long or cannot be cut that way is one unknown piece.
class WordPiece final : public VocabularyModel {
 public:
  struct Options {
    Vocabulary vocabulary;
    std::string unknown_token = "[UNK]";
    std::string continuing_subword_prefix = "##";
    std::size_t max_word_characters = 100;
  };

  // Throws TokenizerError, beginning with `name`, if a piece is longer than 1024 bytes.
  WordPiece(Options options, const std::string& name);

  std::string_view kind() const override { return "WordPiece"; }
  void tokenize(std::string_view word, std::vector<std::int32_t>& ids) const override;

 private:
  bool cut(std::string_view word, std::vector<std::int32_t>& ids) const;

  std::string unknown_token_;
  std::size_t max_word_characters_;
  ByteTrie trie_;
  ByteTrie::Node continuing_;  // after the prefix
};

}  // namespace encdec
