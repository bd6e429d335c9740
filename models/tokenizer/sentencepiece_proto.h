#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// What a sentencepiece model file says, as plain data: for tokenizers that take its pieces into a pipeline of their
// own.
struct SentencePieceProto {
  enum class PieceType { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
  struct Piece {
    std::string text;
    float score = 0;
    PieceType type = PieceType::normal;
  };
  enum class ModelType { unigram = 1, bpe = 2, word = 3, character = 4 };

  std::vector<Piece> pieces;  // the index is the id
  ModelType model_type = ModelType::unigram;
  bool byte_fallback = false;
  std::int32_t unknown_id = 0;
  bool space_is_suffix = false;     // treat_whitespace_as_suffix
  std::string normalization_table;  // precompiled_charsmap; empty if there is none
  bool add_dummy_prefix = true;
  bool remove_extra_spaces = true;
  bool escape_spaces = true;

  // Throws FileError if the file cannot be read, TokenizerError, naming the file, if check_sentencepiece_model refuses
  // it, or for types that are not known.
  static SentencePieceProto read(const std::filesystem::path& path);
  // The same for a file's content; `name` is for messages.
  static SentencePieceProto parse(std::string_view bytes, const std::string& name);
};

}  // namespace encdec
