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

// A model that splits a word into subwords of a vocabulary. Read-only and thread-safe.
class PieceModel {
 public:
  virtual ~PieceModel() = default;

  // Appends the ids of the word's subwords to `ids` and, unless `parts` is null, their ranges in the word to `parts`.
  // Throws TokenizerError if the word has unknown characters and the vocabulary has no unknown token.
  virtual void tokenize(std::string_view word, std::vector<std::int32_t>& ids, std::vector<ByteSpan>* parts) const = 0;

  // Return nullopt for a subword or an id that is not in the vocabulary.
  virtual std::optional<std::int32_t> id(std::string_view piece) const = 0;
  virtual std::optional<std::string_view> piece(std::int32_t id) const = 0;
  virtual std::size_t size() const = 0;  // number of subwords
};
using PieceModelPtr = std::unique_ptr<const PieceModel>;

struct ScoredPiece {
  std::string text;
  double score;  // log-probability
};
using Merges = std::vector<std::pair<std::string, std::string>>;  // the most frequent merge first

// The models of tokenizer.json, with the same names and results as in Hugging Face's tokenizers 0.23. The functions
// throw TokenizerError, beginning with `name`, for options that do not fit together.
namespace piece_models {

struct UnigramOptions {
  // The index of a subword is its id. The last of equal subwords counts. A subword has at most kMaxPieceBytes.
  std::vector<ScoredPiece> pieces;
  std::optional<std::int32_t> unknown_id = {};
  // Replace unknown characters by one token <0xNN> per byte, if the vocabulary has all these tokens.
  bool byte_fallback = false;
};
// Creates the unigram language model of Kudo 2018, which splits a word with best_cut(). An unknown character scores 10
// less than the worst subword. Consecutive unknown characters are one unknown token.
PieceModelPtr unigram(UnigramOptions options, const std::string& name);

struct BpeOptions {
  Vocabulary vocabulary;
  Merges merges = {};                             // both parts and the result must be in the vocabulary
  std::optional<std::string> unknown_token = {};  // without it, unknown characters are dropped
  std::string continuing_subword_prefix = {};     // prepended to every character of a word but the first
  std::string end_of_word_suffix = {};            // appended to the last character of a word
  bool fuse_unknown = false;                      // consecutive unknown characters are one unknown token
  bool byte_fallback = false;  // replace an unknown character by one token <0xNN> per byte, if all exist
  bool ignore_merges = false;  // do not split a word that is in the vocabulary
};
// Creates a byte-pair encoding: merge_pairs() of a word's characters, ranked by their index in `merges`.
PieceModelPtr bpe(BpeOptions options, const std::string& name);

struct WordPieceOptions {
  Vocabulary vocabulary;  // its subwords have at most kMaxPieceBytes
  std::string unknown_token = "[UNK]";
  std::string continuing_subword_prefix = "##";
  std::size_t max_word_characters = 100;
};
// Creates BERT's model, which takes the longest subword at the beginning of a word, then the longest continuing subword
// ("##ing"), and so on. A word that is too long, or cannot be split in this way, is one unknown token.
PieceModelPtr word_piece(WordPieceOptions options, const std::string& name);

struct WordLevelOptions {
  Vocabulary vocabulary;
  std::string unknown_token = "<unk>";
};
// Creates a model in which each word is one token of the vocabulary or the unknown token.
PieceModelPtr word_level(WordLevelOptions options, const std::string& name);

// Creates a byte-pair encoding without a list of merges, like tiktoken's. A word in the vocabulary is one token. The
// bytes of other words are merged by merge_pairs(), ranked by the id of the result. Subwords consist of
// byte_character()s. Throws TokenizerError if a byte has no token or a subword has more than kMaxPieceBytes.
PieceModelPtr rank_bpe(Vocabulary vocabulary, const std::string& name);

}  // namespace piece_models
}  // namespace encdec
