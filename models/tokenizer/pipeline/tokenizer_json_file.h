#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/pipeline/piece_model.h"

namespace encdec {

// What a tokenizer.json holds. The long lists are kept apart: as JSON values they would take many times their memory.
struct TokenizerJsonFile {
  std::optional<Vocabulary> vocabulary;            // model.vocab, if it is an object
  std::optional<std::vector<ScoredPiece>> pieces;  // model.vocab, if it is a list
  std::optional<Merges> merges;                    // model.merges
  std::optional<JsonObject> rest;                  // all other keys, once it is read

  // Throws FileError for what is not JSON, is nested too deep or has a key twice; TokenizerError, naming the place, for
  // long lists of other things than pieces, or with a piece or an id twice, or too many values in the rest.
  static TokenizerJsonFile parse(std::string_view json, const std::string& name);
};

}  // namespace encdec
