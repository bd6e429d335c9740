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

// The content of a tokenizer.json. The long lists are not JSON values, which would need many times the memory.
struct TokenizerJsonFile {
  std::optional<Vocabulary> vocabulary;            // model.vocab, if it is an object
  std::optional<std::vector<ScoredPiece>> pieces;  // model.vocab, if it is a list
  std::optional<Merges> merges;                    // model.merges
  // A table to apply before the normalizer in `rest`. parse() does not set it, but leaves the file's table in `rest`.
  std::optional<NormalizationTable> normalization_table;
  std::optional<JsonObject> rest;  // all other keys; always set by parse()

  // Throws FileError if `json` is not JSON, is nested too deeply, or has a key twice. Throws TokenizerError, with the
  // path of the value, if
  // - a long list contains anything but subwords
  // - a vocabulary has a subword or an id twice
  // - `rest` has too many values
  static TokenizerJsonFile parse(std::string_view json, const std::string& name);
};

// Parses a JSON number like Rust's serde_json, whose result can be next to the nearest double. tokenizers reads scores
// with serde_json, and the same rounding gives close sums the same order. Returns nullopt beyond the range of double.
std::optional<double> read_serde_number(std::string_view json);

// Builds the pipeline of a tokenizer.json of Hugging Face's tokenizers 0.23 or older. Ignores truncation and padding.
// Throws TokenizerError or ConfigError, with file, path, found and expected, for unknown types of parts, values of the
// wrong type, and parts that do not fit together.
// REQUIRES: file.rest is set.
PipelineParts read_pipeline(TokenizerJsonFile file);
// A step of read_pipeline(): moves the model out of `file`, and sets model, kind and marks_continuing_pieces.
void read_piece_model(TokenizerJsonFile& file, PipelineParts& parts);

}  // namespace encdec
