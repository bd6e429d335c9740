#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/base/tokenizer.h"
#include "encdec/models/tokenizer/base/vocabulary.h"

namespace encdec {

// Loads the tokenizer of a model in Marian's own format. decoder.yml names the vocabularies of both sides: maps of
// pieces to ids, in YAML or JSON. If the folder has source.spm and target.spm, as OPUS-MT releases do, the result is a
// marian_tokenizer(), else a plain_tokenizer(). Throws TokenizerError or FileError, naming the file, if a file is
// missing or damaged.
std::unique_ptr<Tokenizer> load_marian_release(const std::filesystem::path& folder);

// Returns the file names of the source and the target vocabulary, which may be equal. Throws as load_marian_release()
// does.
std::vector<std::string> marian_vocabulary_files(const std::filesystem::path& folder);

// Returns the vocabulary of a map of pieces to ids. Throws TokenizerError, beginning with `name`, if `map` is not an
// object, a value is not an id, or an id occurs twice.
Vocabulary vocabulary_from(const nlohmann::json& map, const std::string& name);

}  // namespace encdec
