#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/pipeline/normalization_table.h"

namespace encdec {

inline constexpr std::size_t kMaxSentencePieceBytes = 32u << 20;  // a model of 256,000 pieces has about 5 MB

// The content of a sentencepiece model file (ModelProto in sentencepiece_model.proto).
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
  // A test of the model.
  struct Sample {
    std::string input;
    std::string expected;  // pieces, separated by spaces
  };

  std::vector<Piece> pieces;  // the index is the id
  ModelType model_type = ModelType::unigram;
  bool byte_fallback = false;
  std::string unknown_surface = " \u2047 ";  // decoded text of the unknown piece
  Normalization normalizer;
  Normalization denormalizer;
  std::vector<Sample> samples;

  // Parses the content of the file `name`. Throws TokenizerError, with the file's name, if
  // - a protobuf field is incomplete or a type is unknown
  // - there are no pieces or more than a million
  // - a piece is empty, has more than kMaxPieceBytes, is not UTF-8, or has a NUL byte and other bytes
  // - a score is not finite
  // - NormalizationTable::check() refuses a table
  static SentencePieceProto parse(std::string_view bytes, const std::string& name);
};

}  // namespace encdec
