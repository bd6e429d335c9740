#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "encdec/models/checkpoint/json.h"

namespace encdec {

// The files of a model in one of Marian's own formats. A folder has one of these forms:
// - decoder.yml (OPUS-MT) or config.intgemm8bitalpha.yml (translateLocally): options of Marian's
//   decoder, which name the other files
// - Firefox Translations, fxtranslate, MTranServer: model*.bin; vocab*.spm, or srcvocab*.spm and
//   trgvocab*.spm; and lex*.bin for a lexical shortlist
// Each file may be compressed, with .gz or .zst after its name.
class MarianFiles {
 public:
  // Lists the folder's files and reads its options. Throws FileError on failure.
  explicit MarianFiles(const std::filesystem::path& folder);

  // Returns true if the folder has one of these forms.
  bool is_release() const;
  // Returns the model named in the options, else the only .npz file, else the only model*.bin;
  // nullopt if there is none. Throws FileError if there are several.
  std::optional<std::filesystem::path> model() const;
  // Returns the source and target vocabulary, which may be equal. Throws FileError if the choice is not clear.
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
