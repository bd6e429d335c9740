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

// A sentencepiece model (unigram, BPE, word or character): converts text to pieces and back. Read-only and thread-safe.
// Unigram models give the results of sentencepiece 0.2, all others the results of 0.1.97. Scores are bitwise identical
// to sentencepiece's, because rounding can decide between two orders of the same pieces ("0" "00" or "00" "0").
class SentencePieceModel {
 public:
  // Reads a model file. Throws FileError if the file cannot be read. Throws TokenizerError if
  // - SentencePieceProto::parse() refuses the file
  // - a piece occurs twice
  // - there is no unknown piece, or more than one
  // - a unigram model has no piece for text
  // - byte_fallback is set and a byte has no piece, or it is not set and a byte has a piece
  // - encoding one of the file's samples gives another result than the file contains
  static SentencePieceModel read(const std::filesystem::path& path);
  // Reads the content of such a file. Error messages begin with `name`.
  SentencePieceModel(std::string_view bytes, std::string name);

  // Normalises the text and splits it into pieces. A run of unknown characters is one piece with their text, or, with
  // byte_fallback, one piece per byte. Throws TokenizerError if check_text() refuses the text, if it contains a control
  // piece, or if normalisation makes it too long. Takes O(n) time for n bytes, or O(n log n) for BPE models.
  std::vector<std::string> encode(std::string_view text) const;
  // Like encode(text), but calls `take` with each piece.
  void encode(std::string_view text, const PieceSink& take) const;
  // Converts pieces to text. Copies pieces that the model lacks.
  std::string decode(std::span<const std::string> pieces) const;
  // Returns the piece with this id, or null if there is none. A tokenizer can map pieces to other ids.
  const std::string* piece(int id) const;

 private:
  using PieceType = SentencePieceProto::PieceType;
  using ModelType = SentencePieceProto::ModelType;
  // A character, or a user-defined piece, which is never merged.
  struct Symbol {
    std::size_t bytes;
    bool is_whole;  // whether the symbol is a user-defined piece
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
  // Returns the sum of the scores of pieces, which are separated by spaces.
  double unigram_score(std::string_view pieces) const;

  std::int32_t id_of(std::string_view piece) const;
  const SentencePieceProto::Piece& at(std::int32_t id) const { return proto_.pieces[static_cast<std::size_t>(id)]; }
  [[noreturn]] void fail(std::string_view what) const;

  SentencePieceProto proto_;
  std::string name_;
  ByteTrie user_defined_;                 // pieces that are never normalised or merged
  ByteTrie text_pieces_;                  // ids of normal, user-defined and unused pieces
  StringMap<std::int32_t> other_pieces_;  // ids of control pieces, byte pieces and the unknown piece
  std::int32_t unknown_id_ = -1;
  float unknown_score_ = 0;
  float highest_score_ = 0;  // maximum score of a normal piece
};

}  // namespace encdec
