#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// Returns the path of the weights in a folder: `name` or else the index `name`.index.json. Other
// paths are returned unchanged. Throws FileError if the folder has neither file.
std::filesystem::path find_weights(const std::filesystem::path& folder_or_file, const std::string& name);

// Parses the bytes of one file.
using ParseWeights = std::function<std::shared_ptr<WeightStore>(const FileBytes& file)>;

std::shared_ptr<const WeightStore> read_file(const std::filesystem::path& path, const ParseWeights& parse);

// Reads the tensors of a file or, if it is an index, of all files in it. transformers writes an
// index for a large checkpoint: {"weight_map": {"tensor": "file", ...}}. File names must be plain.
// The list of tensors is not checked; if several files have a tensor, the last one in alphabetical
// order counts. Throws FileError, naming the file and the tensor.
std::shared_ptr<const WeightStore> read_weights(const std::filesystem::path& file_or_index, const ParseWeights& parse);

}  // namespace encdec
