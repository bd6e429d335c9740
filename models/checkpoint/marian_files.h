#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "encdec/models/checkpoint/json.h"

namespace encdec {

// The files beside a model in one of Marian's own formats. A folder has one of these forms:
// - decoder.yml (OPUS-MT) or config.intgemm8bitalpha.yml (translateLocally): options of Marian's decoder, which name
//   the files
// - Firefox Translations, fxtranslate, MTranServer: model*.bin, vocab*.spm or srcvocab*.spm and trgvocab*.spm, and
//   lex*.bin for a lexical shortlist
// Each file may be compressed, with .gz or .zst behind its name.
class MarianFiles {
 public:
  // Lists the files of a folder and reads its options. Throws FileError if they cannot be read.
  explicit MarianFiles(const std::filesystem::path& folder);

  // Returns whether the folder has one of these forms.
  bool is_release() const;
  // Returns the model that the options name, else the only .npz file, else the only model*.bin; nullopt if there is
  // none. Throws FileError for several models.
  std::optional<std::filesystem::path> model() const;
  // Returns the names of the source's and the target's vocabulary, which may be equal. Throws FileError if there are
  // none.
  std::vector<std::string> vocabularies() const;
  // Returns the lexical shortlist; nullopt if there is none.
  std::optional<std::filesystem::path> shortlist() const;

 private:
  std::vector<std::string> found(std::string_view prefix, std::string_view ending) const;
  std::string stored(const std::string& name) const;
  std::string named(const nlohmann::json& name, std::string_view key) const;

  std::filesystem::path folder_;
  std::vector<std::string> file_names_;  // sorted
  std::optional<JsonObject> options_;
};

}  // namespace encdec
