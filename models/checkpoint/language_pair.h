#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace encdec {

// The language that a model reads and the one that it writes, as the folder spells them. Several languages are joined
// by '+': "de+fr".
struct LanguagePair {
  std::string source;
  std::string target;

  bool operator==(const LanguagePair&) const = default;
};

// Finds the languages of a model folder in the first of these places that has them:
// 1. source_lang and target_lang in tokenizer_config.json,
// 2. metadata.json (Firefox Translations) or model_info.json (translateLocally),
// 3. the name of a student's model, one side of which is English: "model.ende.intgemm.alphas.bin",
// 4. the name of the folder, if it is like those of OPUS-MT, "opus-mt-en-fr", or of a student, "en_fr".
// Throws FileError if a file cannot be read.
std::optional<LanguagePair> language_pair_of(const std::filesystem::path& folder);

}  // namespace encdec
