#pragma once

#include <map>
#include <string>

#include "encdec/models/model.h"

namespace encdec {

// The languages that a model translates from and to. A key is a canonical code: "fr". Its value is the model's own code
// for the language, "fra_Latn" for NLLB; empty if the model has no such codes.
struct ModelLanguages {
  std::map<std::string, std::string> sources = {};
  std::map<std::string, std::string> targets = {};

  // Finds the languages of a model in the first of these places that has them:
  // 1. the language tokens of the tokenizer,
  // 2. the files and the name of the folder, see language_pair_of().
  // Returns no languages if none of these places has any.
  static ModelLanguages of(const Model& model, const std::string& folder);
  // Parses the languages in --languages: "en:fr", "en:de,fr".
  static ModelLanguages parse(const std::string& text);

  bool translates(const std::string& source, const std::string& target) const {
    return source != target && sources.contains(source) && targets.contains(target);
  }
};

// Returns whether the model's family is trained to translate single sentences.
bool translates_sentences(const Model& model);

}  // namespace encdec
