#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// The tokenizer of a checkpoint folder, chosen by its files and by config.json's model_type (empty where there is no
// such file); null if the folder has none. A file that is a model of its own, as open_checkpoint() takes it, has its
// tokenizer inside or beside it. Throws TokenizerError or FileError, naming the file, if files are damaged or
// one of several is missing.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder_or_file, std::string_view model_type);

// The names of the files in the folder, or beside the file, that load_tokenizer() may read; sorted. A ggml file has its
// tokenizer inside.
std::vector<std::string> tokenizer_files(const std::filesystem::path& folder_or_file);

}  // namespace encdec
