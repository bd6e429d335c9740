#pragma once

#include <filesystem>
#include <memory>

#include "encdec/models/tokenizer/base/tokenizer.h"
#include "encdec/models/tokenizer/families/pipeline_families.h"

namespace encdec {

// A family's tokenizer, from tokenizer.json if it is there and has a model of the family's kind, else from the family's
// own files. Null if there are neither; throws TokenizerError or FileError, naming the file, if one of several is
// missing or one is damaged.
std::unique_ptr<Tokenizer> load_pipeline(const std::filesystem::path& folder, const PipelineFamily& family);
// tokenizer.json as it stands, with what tokenizer_config.json and its like add to it. Null if it is not there.
std::unique_ptr<Tokenizer> load_pipeline(const std::filesystem::path& folder);

}  // namespace encdec
