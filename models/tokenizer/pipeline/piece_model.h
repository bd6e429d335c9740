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
#include "encdec/models/tokenizer/pipeline/pipeline_text.h"

namespace encdec {

// A model that cuts a word into pieces of a vocabulary. Read-only and thread-safe.
class PieceModel {
 public:
  virtual ~PieceModel() = default;

  // Appends the ids of the word's pieces to `ids` and, unless null, to `parts` the bytes of the word that each stands
  // for. Throws TokenizerError if the word has unknown characters and the vocabulary has no unknown token.
  virtual void tokenize(std::string_view word, std::vector<std::int32_t>& ids, std::vector<ByteSpan>* parts) const = 0;

  // Return nullopt for a piece or an id that the vocabulary does not have.
  virtual std::optional<std::int32_t> id(std::string_view piece) const = 0;
  virtual std::optional<std::string_view> piece(std::int32_t id) const = 0;
  virtual std::size_t size() const = 0;  // number of pieces
};
using PieceModelPtr = std::unique_ptr<const PieceModel>;

struct ScoredPiece {
  std::string text;
  double score;  // log-probability
};
using Merges = std::vector<std::pair<std::string, std::string>>;  // the most frequent first

// The models of tokenizer.json, under their names there. Each equals that of Hugging Face's tokenizers 0.23. Each
// function throws TokenizerError, beginning with `name`, for options that do not fit together.
namespace piece_models {

struct UnigramOptions {
  // The id of a piece is its index. Of equal pieces, the last one counts. A piece has at most kMaxPieceBytes.
  std::vector<ScoredPiece> pieces;
  std::optional<std::int32_t> unknown_id = {};
  // Replace an unknown piece by one piece <0xNN> per byte, if the vocabulary has all of them.
  bool byte_fallback = false;
};
// Creates the unigram language model of Kudo 2018, which cuts a word into the pieces with the highest sum of scores
// (Viterbi's algorithm). An unknown character scores 10 less than the worst piece. Consecutive unknown characters are
// one unknown piece.
PieceModelPtr unigram(UnigramOptions options, const std::string& name);

struct BpeOptions {
  Vocabulary vocabulary;
  Merges merges = {};                             // both parts and the result must be in the vocabulary
  std::optional<std::string> unknown_token = {};  // if absent, characters that the vocabulary lacks are dropped
  std::string continuing_subword_prefix = {};     // put before every character but the first of a word
  std::string end_of_word_suffix = {};            // put after the last character of a word
  bool fuse_unknown = false;                      // consecutive unknown characters are one unknown token
  bool byte_fallback = false;  // replace an unknown character by one piece <0xNN> per byte, if all of them exist
  bool ignore_merges = false;  // a word that is in the vocabulary is one piece
};
// Creates a byte-pair encoding. It merges a word's characters with merge_pairs(); the rank is the index in `merges`.
PieceModelPtr bpe(BpeOptions options, const std::string& name);

struct WordPieceOptions {
  Vocabulary vocabulary;  // its pieces have at most kMaxPieceBytes
  std::string unknown_token = "[UNK]";
  std::string continuing_subword_prefix = "##";
  std::size_t max_word_characters = 100;
};
// Creates BERT's model: takes the longest piece at the beginning of the word, then the longest continuing piece
// ("##ing"), and so on. A word that is too long, or cannot be cut in this way, is one unknown token.
PieceModelPtr word_piece(WordPieceOptions options, const std::string& name);

struct WordLevelOptions {
  Vocabulary vocabulary;
  std::string unknown_token = "<unk>";
};
// Creates a model in which each word is one piece or the unknown token.
PieceModelPtr word_level(WordLevelOptions options, const std::string& name);

// Creates a byte-pair encoding without a list of merges, like tiktoken's; tokenizer.json has no such model. A word that
// is a piece stays whole. The bytes of any other word are merged pair by pair: always the pair whose joined text is the
// piece with the smallest id, and the leftmost of equal pairs. Pieces are written with the characters of byte-level
// vocabularies, see byte_character(). A byte without a piece and a piece of more than kMaxPieceBytes are refused.
PieceModelPtr rank_bpe(Vocabulary vocabulary, const std::string& name);

}  // namespace piece_models
}  // namespace encdec
