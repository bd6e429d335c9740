#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/pipeline/normalization_table.h"
#include "encdec/models/tokenizer/pipeline/piece_model.h"
#include "encdec/models/tokenizer/pipeline/pipeline_tokenizer.h"

namespace encdec {

// The content of a tokenizer.json. The long lists have types of their own, because as JSON values they would need many
// times the memory.
struct TokenizerJsonFile {
  std::optional<Vocabulary> vocabulary;            // model.vocab, if it is an object
  std::optional<std::vector<ScoredPiece>> pieces;  // model.vocab, if it is a list
  std::optional<Merges> merges;                    // model.merges
  // A table to apply before the normalizer in `rest`. parse() leaves this empty and the table in `rest`, as base64.
  std::optional<NormalizationTable> normalization_table;
  std::optional<JsonObject> rest;  // all other keys; always set by parse()

  // Throws FileError if `json` is not JSON, is nested too deeply, or has a key twice. Throws TokenizerError, naming the
  // place, if
  // - a long list contains anything but pieces
  // - a vocabulary has a piece or an id twice
  // - `rest` has too many values
  static TokenizerJsonFile parse(std::string_view json, const std::string& name);
};

// Parses a JSON number with the rounding of Rust's serde_json, which tokenizers uses to read scores. The result can be
// one double away from the nearest. With the same rounding, nearly equal sums of scores compare as in tokenizers.
// Returns nullopt for a number beyond the range of double.
std::optional<double> read_serde_number(std::string_view json);

// Returns the pipeline that a tokenizer.json of Hugging Face's tokenizers 0.23 or older describes. Ignores truncation
// and padding. Throws TokenizerError or ConfigError, with file, place, found and expected, for unknown kinds of parts,
// values of the wrong type, and parts that do not fit together.
// REQUIRES: file.rest is set.
PipelineParts read_pipeline(TokenizerJsonFile file);
// The part of read_pipeline() that takes the model out of `file`: sets model, kind and marks_continuing_pieces.
void read_piece_model(TokenizerJsonFile& file, PipelineParts& parts);

}  // namespace encdec
