#pragma once

#include <encdec/models/model.h>

#include <map>
#include <string>
#include <vector>

namespace encdec::serve {

// What a model translates from and to: canonical codes, and what it is to be told for each, nothing where it knows no
// other.
struct ModelLanguages {
  std::map<std::string, std::string> sources = {};
  std::map<std::string, std::string> targets = {};

  // By what the tokenizer of a multilingual model knows; else by tokenizer_config.json's source_lang and target_lang;
  // else by a folder's name as OPUS-MT's: "opus-mt-en-fr". None of it: no languages.
  static ModelLanguages of(const Model& model, const std::string& folder);
  // As a user says: "en:fr", "en:de,fr".
  static ModelLanguages told(const std::string& text);

  bool translates(const std::string& source, const std::string& target) const {
    return source != target && sources.contains(source) && targets.contains(target);
  }
};

}  // namespace encdec::serve
