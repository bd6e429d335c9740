#pragma once

#include <optional>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/pipeline/byte_trie.h"
#include "encdec/models/tokenizer/pipeline/piece_model.h"

namespace encdec {

// The unigram language model of Kudo 2018: the pieces with the highest sum of scores (log-probabilities), found by
// Viterbi's algorithm. A character that no piece covers costs 10 more than the worst piece; unknown characters in a row
// are one unknown piece.
class Unigram final : public PieceModel {
 public:
  struct Piece {
    std::string text;
    double score;
  };
  struct Options {
    std::vector<Piece> pieces;  // the index is the id; of equal ones, the last counts
    std::optional<std::int32_t> unknown_id = {};
    bool byte_fallback = false;  // an unknown piece becomes <0xNN> for each of its bytes, if those all exist
  };

  // Throws TokenizerError, beginning with `name`, if a piece is longer than 1024 bytes, a score is not finite, or
  // there is no piece `unknown_id`.
  Unigram(Options options, const std::string& name);

  std::string_view kind() const override { return "Unigram"; }
  void tokenize(std::string_view word, std::vector<std::int32_t>& ids) const override;
  std::optional<std::int32_t> id(std::string_view piece) const override;
  const std::string* piece(std::int32_t id) const override;
  std::size_t size() const override { return pieces_.size(); }

 private:
  void append(std::string_view piece, std::vector<std::int32_t>& ids) const;

  std::vector<Piece> pieces_;
  std::optional<std::int32_t> unknown_id_;
  bool byte_fallback_;
  double unknown_score_;
  ByteTrie trie_;
  std::string name_;
};

}  // namespace encdec
