#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// Returns the path of a checkpoint's weights. In a folder that is `name`, or else the index `name`.index.json; a path
// that is no folder is returned as it is. Throws FileError if the folder has neither file.
std::filesystem::path find_weights(const std::filesystem::path& folder_or_file, const std::string& name);

// Parses the bytes of one file.
using ParseWeights = std::function<std::shared_ptr<WeightStore>(const FileBytes& file)>;

// Maps one file and parses it.
std::shared_ptr<const WeightStore> read_file(const std::filesystem::path& path, const ParseWeights& parse);

// Reads the tensors of a file or, if the file is an index, of all files that the index lists. transformers writes an
// index beside the parts of a large checkpoint: {"weight_map": {"tensor": "file", ...}}. File names must be plain names
// inside the folder. Each listed tensor must be in the file given for it. As in transformers, tensors of these files
// that are not listed belong to the checkpoint too. A name may occur in one file only. Throws FileError naming the file
// and the tensor, with what was found and what was expected.
std::shared_ptr<const WeightStore> read_weights(const std::filesystem::path& file_or_index, const ParseWeights& parse);

}  // namespace encdec
