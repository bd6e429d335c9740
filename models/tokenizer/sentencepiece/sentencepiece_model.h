#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/pipeline/byte_trie.h"
#include "encdec/models/tokenizer/sentencepiece/sentencepiece_proto.h"

namespace encdec {

// A sentencepiece model (unigram, BPE, word or character): text to pieces and back. Read-only and thread-safe. Unigram
// models give the results of sentencepiece 0.2, the others those of 0.1.97. Scores are equal to the last bit, because
// rounding decides between two cuts with the same pieces in another order ("0" "00" or "00" "0").
class SentencePieceModel {
 public:
  // Reads a model file. Throws FileError if the file cannot be read. Throws TokenizerError if
  // - SentencePieceProto::parse() refuses the file
  // - a piece occurs twice
  // - there is no unknown piece, or more than one
  // - a unigram model has no piece for text
  // - byte_fallback is set and a byte has no piece, or it is not set and a byte has one
  // - the model cuts one of its own samples differently from the result in the file
  static SentencePieceModel read(const std::filesystem::path& path);
  // Reads the content of such a file. `name` is for messages.
  SentencePieceModel(std::string_view bytes, std::string name);

  // Normalises the text and cuts it into pieces. A run of unknown characters is one piece with their text, or, with
  // byte_fallback, one piece per byte. Throws TokenizerError if check_text() refuses the text or the model cannot cut
  // it. For a text of n bytes takes O(n) time, or O(n log n) for BPE models.
  std::vector<std::string> encode(std::string_view text) const;
  // The same, but calls `take` with each piece.
  void encode(std::string_view text, const PieceSink& take) const;
  // Returns the text of pieces. A piece that the model does not know is copied to the text.
  std::string decode(std::span<const std::string> pieces) const;
  // Returns the piece with this id, or null if there is none. It is the id within this model; a translation model has
  // ids of its own.
  const std::string* piece(int id) const;

 private:
  using PieceType = SentencePieceProto::PieceType;
  using ModelType = SentencePieceProto::ModelType;
  // A character, or a user-defined piece, which is never merged.
  struct Symbol {
    std::size_t bytes;
    bool is_whole;  // it is a user-defined piece
  };

  void add_pieces();
  void check_samples() const;

  // Call `take` with each piece and its id, in order.
  template <typename Take>
  void cut(std::string_view normalized, const Take& take) const;
  template <typename Take>
  void cut_unigram(std::string_view normalized, const Take& take) const;
  // Calls `take` with each piece of a BPE model, without its id.
  template <typename Take>
  void merge(std::string_view normalized, const Take& take) const;
  Symbol first_symbol(std::string_view text) const;
  // Returns the sum of the scores of `pieces`, which are separated by spaces. Samples are compared by it.
  double unigram_score(std::string_view pieces) const;

  std::int32_t id_of(std::string_view piece) const;
  const SentencePieceProto::Piece& at(std::int32_t id) const { return proto_.pieces[static_cast<std::size_t>(id)]; }
  [[noreturn]] void fail(std::string_view what) const;

  SentencePieceProto proto_;
  std::string name_;
  ByteTrie user_defined_;                 // pieces that are neither normalised nor merged
  ByteTrie text_pieces_;                  // ids of normal, user-defined and unused pieces
  StringMap<std::int32_t> other_pieces_;  // ids of control pieces, byte pieces and the unknown piece
  std::int32_t unknown_id_ = -1;
  float unknown_score_ = 0;
  float highest_score_ = 0;  // maximum score of a normal piece
};

}  // namespace encdec
