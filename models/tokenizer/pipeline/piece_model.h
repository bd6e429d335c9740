#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

  // Adds the ids of the word's pieces to `ids`. Throws TokenizerError if it has unknown characters and the vocabulary
  // has no piece for those.
  virtual void tokenize(std::string_view word, std::vector<std::int32_t>& ids) const = 0;

  virtual std::optional<std::int32_t> id(std::string_view piece) const = 0;
  // Nothing for an id that no piece has.
  virtual std::optional<std::string_view> piece(std::int32_t id) const = 0;
  virtual std::size_t size() const = 0;  // pieces
};
using PieceModelPtr = std::unique_ptr<const PieceModel>;

struct ScoredPiece {
  std::string text;
  double score;  // log-probability
};
using Merges = std::vector<std::pair<std::string, std::string>>;  // the most frequent first

// The kinds that tokenizer.json knows, by their names there. Each is what Hugging Face's tokenizers 0.23 does, and
// throws TokenizerError, beginning with `name`, for options that do not fit together.
namespace piece_models {

struct UnigramOptions {
  std::vector<ScoredPiece> pieces;  // of at most 1024 bytes; the index is the id; of equal ones, the last counts
  std::optional<std::int32_t> unknown_id = {};
  bool byte_fallback = false;  // an unknown piece becomes <0xNN> for each of its bytes, if those all exist
};
// The unigram language model of Kudo 2018: the pieces with the highest sum of scores, found by Viterbi's algorithm. A
// character that no piece covers costs 10 more than the worst piece; unknown characters in a row are one unknown piece.
PieceModelPtr unigram(UnigramOptions options, const std::string& name);

struct BpeOptions {
  Vocabulary vocabulary;
  Merges merges = {};                             // parts and results are in the vocabulary
  std::optional<std::string> unknown_token = {};  // absent: characters that the vocabulary lacks are left out
  std::string continuing_subword_prefix = {};     // of every character but a word's first
  std::string end_of_word_suffix = {};            // of a word's last character
  bool fuse_unknown = false;                      // unknown characters in a row are one
  bool byte_fallback = false;  // an unknown character becomes <0xNN> for each of its bytes, if those all exist
  bool ignore_merges = false;  // a word that is a piece is that piece
};
// Byte-pair encoding: a word's characters are merged by merge_pairs, the earliest merge of the list first.
PieceModelPtr bpe(BpeOptions options, const std::string& name);

struct WordPieceOptions {
  Vocabulary vocabulary;  // of pieces of at most 1024 bytes
  std::string unknown_token = "[UNK]";
  std::string continuing_subword_prefix = "##";
  std::size_t max_word_characters = 100;
};
// BERT's model: the longest piece that a word begins with, then the longest of those that go on ("##ing"), and so on. A
// word that is too long or cannot be cut that way is one unknown piece.
PieceModelPtr word_piece(WordPieceOptions options, const std::string& name);

struct WordLevelOptions {
  Vocabulary vocabulary;
  std::string unknown_token = "<unk>";
};
// Each word is a piece, or unknown.
PieceModelPtr word_level(WordLevelOptions options, const std::string& name);

}  // namespace piece_models
}  // namespace encdec
