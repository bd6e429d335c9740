#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/pipeline/byte_trie.h"
#include "encdec/models/tokenizer/sentencepiece/sentencepiece_proto.h"

namespace encdec {

// A sentencepiece model file (unigram, BPE, word or character): text to pieces and back, as sentencepiece 0.1.97 does
// it, but unigram models as 0.2, to the last bit of the scores: the best of several ways with the same pieces ("0" "00"
// and "00" "0") is a matter of rounding. Read-only: usable from many threads at once.
class SentencePieceModel {
 public:
  // Throws FileError if the file cannot be read; TokenizerError if SentencePieceProto refuses it, or if a piece is
  // there twice, there is not one unknown piece, no piece for text, not a piece for every byte with byte_fallback (and
  // none without), or the model cuts one of its own samples otherwise than it says.
  static SentencePieceModel read(const std::filesystem::path& path);
  // The same for a file's content; `name` is for messages.
  SentencePieceModel(std::string_view bytes, std::string name);

  // The normalised text cut into pieces. Unknown characters in a row are one piece, which is their text; with
  // byte_fallback, a piece for each of their bytes. Throws TokenizerError for a text that check_text refuses, or that
  // the model cannot cut. Takes O(n) for a text of n bytes, of BPE models O(n log n).
  std::vector<std::string> encode(std::string_view text) const;
  // Gives them to `take` one after another, without keeping them.
  void encode(std::string_view text, const PieceSink& take) const;
  // The text of pieces; a piece that the model does not know stands for itself.
  std::string decode(std::span<const std::string> pieces) const;
  // The piece with this id, which is not the id that a translation model knows it by; null for an id that is not there.
  const std::string* piece(int id) const;

 private:
  using PieceType = SentencePieceProto::PieceType;
  using ModelType = SentencePieceProto::ModelType;
  // A character, or a whole user-defined piece, which is never merged.
  struct Symbol {
    std::size_t bytes;
    bool is_whole;
  };

  void add_pieces();
  void check_samples() const;

  // Give pieces, and their ids, to `take` one after another.
  template <typename Take>
  void cut(std::string_view normalized, const Take& take) const;
  template <typename Take>
  void cut_unigram(std::string_view normalized, const Take& take) const;
  // The same without ids.
  template <typename Take>
  void merge(std::string_view normalized, const Take& take) const;
  Symbol first_symbol(std::string_view text) const;
  // The sum of scores by which samples are compared.
  double unigram_score(std::string_view pieces) const;

  std::int32_t id_of(std::string_view piece) const;
  const SentencePieceProto::Piece& at(std::int32_t id) const { return proto_.pieces[static_cast<std::size_t>(id)]; }
  [[noreturn]] void fail(std::string_view what) const;

  SentencePieceProto proto_;
  std::string name_;
  ByteTrie user_defined_;                 // pieces that stay as they are
  ByteTrie text_pieces_;                  // ids of pieces that text can become
  StringMap<std::int32_t> other_pieces_;  // those of control pieces, bytes and the unknown
  std::int32_t unknown_id_ = -1;
  float unknown_score_ = 0;
  float highest_score_ = 0;  // of normal pieces
};

}  // namespace encdec
