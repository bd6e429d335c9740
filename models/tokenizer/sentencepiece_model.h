#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/sentencepiece_unigram.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace encdec {

// A sentencepiece model file (unigram, BPE, word or character): text to pieces and back. Read-only: usable from many
// threads at once. Loading one silences libsentencepiece's log, for the whole process.
class SentencePieceModel {
 public:
  // Throws FileError if the file cannot be read, TokenizerError if it is not a model that is safe to use; see
  // check_sentencepiece_model.
  static SentencePieceModel read(const std::filesystem::path& path);
  // The same for a file's content; `name` is for messages.
  SentencePieceModel(const std::string& bytes, std::string name);

  ~SentencePieceModel();
  SentencePieceModel(SentencePieceModel&&) noexcept;
  SentencePieceModel& operator=(SentencePieceModel&&) noexcept;

  // The normalised text cut into pieces. Throws TokenizerError for a text that check_text refuses, or that the
  // model cannot cut.
  std::vector<std::string> encode(std::string_view text) const;
  // The text of pieces; a piece that the model does not know stands for itself.
  std::string decode(std::span<const std::string> pieces) const;
  // The piece with this id, which is not the id that a translation model knows it by; null for an id that is not there.
  const std::string* piece(int id) const;

 private:
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
  std::optional<SentencePieceUnigram> unigram_;  // if that is what the model is
  std::string name_;
};

}  // namespace encdec
