#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// Loads the tokenizer of a checkpoint folder. `model_type` is the value in config.json, or empty without a config.json.
// Returns null if the checkpoint has no tokenizer. Throws TokenizerError or FileError, naming the file, if a file is
// damaged or only some of the needed files exist.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder, std::string_view model_type);

// Returns the sorted names of the files in the folder that load_tokenizer() may read.
std::vector<std::string> tokenizer_files(const std::filesystem::path& folder);

}  // namespace encdec
