#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/pipeline/normalization_table.h"

namespace encdec {

inline constexpr std::size_t kMaxSentencePieceBytes = 32u << 20;  // models of 256,000 pieces: some 5 MB

// What a sentencepiece model file says, as plain data.
struct SentencePieceProto {
  enum class PieceType { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
  struct Piece {
    std::string text;
    float score = 0;
    PieceType type = PieceType::normal;
  };
  enum class ModelType { unigram = 1, bpe = 2, word = 3, character = 4 };
  struct Normalization {
    std::optional<NormalizationTable> table = {};  // precompiled_charsmap
    bool add_dummy_prefix = true;
    bool remove_extra_spaces = true;
    bool escape_spaces = true;
    bool space_is_suffix = false;  // treat_whitespace_as_suffix
  };
  // A text and its pieces with spaces between, by which a model tests itself.
  struct Sample {
    std::string input;
    std::string expected;
  };

  std::vector<Piece> pieces;  // the index is the id
  ModelType model_type = ModelType::unigram;
  bool byte_fallback = false;
  std::string unknown_surface = " \u2047 ";  // what the unknown piece is decoded to
  Normalization normalizer;
  Normalization denormalizer;
  std::vector<Sample> samples;

  // `bytes` is the content of the file `name`. Throws TokenizerError, naming the file, if
  // - a protobuf field is not whole, or a type is not known;
  // - there are none or more than a million pieces, or one is empty, longer than 1024 bytes, not UTF-8, or has a NUL
  //   byte among others; a score is not finite;
  // - NormalizationTable::check refuses a table.
  static SentencePieceProto parse(std::string_view bytes, const std::string& name);
};

}  // namespace encdec
