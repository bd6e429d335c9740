#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "encdec/models/tokenizer/base/tokenizer.h"
#include "encdec/models/tokenizer/base/vocabulary.h"

namespace encdec {

// Loads the tokenizer of a model in Marian's own format, from the vocabularies that MarianFiles finds. They are
// sentencepiece models, or maps of pieces to ids in YAML or JSON. The result is a marian_tokenizer(); but a
// plain_tokenizer() for maps without the source.spm and target.spm of OPUS-MT. Throws TokenizerError or FileError,
// naming the file, if a file is missing or damaged.
std::unique_ptr<Tokenizer> load_marian_release(const std::filesystem::path& folder);

// Returns the vocabulary of a map of pieces to ids. Throws TokenizerError, beginning with `name`, if `map` is not an
// object, a value is not an id, or an id occurs twice.
Vocabulary vocabulary_from(const nlohmann::json& map, const std::string& name);

}  // namespace encdec
