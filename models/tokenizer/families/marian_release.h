#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/base/tokenizer.h"
#include "encdec/models/tokenizer/base/vocabulary.h"

namespace encdec {

// The tokenizer of a model as Marian itself writes it. decoder.yml names the vocabularies of both sides: maps of pieces
// to ids, in YAML or JSON. With source.spm and target.spm beside them (OPUS-MT releases) texts are cut into pieces, as
// marian_tokenizer() does, else they are tokens with spaces between. Throws TokenizerError or FileError, naming the
// file, if one is missing or damaged.
std::unique_ptr<Tokenizer> load_marian_release(const std::filesystem::path& folder);

// The names of its vocabularies: the source's, then the target's, which may be the same. Throws as above.
std::vector<std::string> marian_vocabulary_files(const std::filesystem::path& folder);

// A map of pieces to ids, which are all there and all different; `name` is for messages.
Vocabulary vocabulary_from(const nlohmann::json& map, const std::string& name);

}  // namespace encdec
