#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace encdec {

// Source and target language, spelled as in the folder. '+' joins several languages: "de+fr".
struct LanguagePair {
  std::string source;
  std::string target;

  bool operator==(const LanguagePair&) const = default;
};

// Returns the languages of a model folder; nullopt if unknown. The first of these sources that has languages counts:
// 1. source_lang and target_lang in tokenizer_config.json,
// 2. metadata.json (Firefox Translations) or model_info.json (translateLocally),
// 3. the name of a student model, with English on one side: "model.ende.intgemm.alphas.bin",
// 4. the folder's name, if it is like "opus-mt-en-fr" (OPUS-MT) or "en_fr" (a student model).
// Throws FileError if a file cannot be read.
std::optional<LanguagePair> language_pair_of(const std::filesystem::path& folder);

}  // namespace encdec
