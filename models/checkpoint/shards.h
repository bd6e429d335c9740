#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// Throws FileError, beginning with `where`, unless `name` is a bare name: one inside a file must not lead out of the
// folder.
void check_bare_name(const std::string& name, const std::string& where);

// The file of a checkpoint folder that holds its weights, `name`, or else the index that lists the files that do,
// `name`.index.json. A path that is no folder is that file. Throws FileError if neither is there.
std::filesystem::path find_weights(const std::filesystem::path& folder_or_file, const std::string& name);

// The tensors of one file.
using ParseWeights = std::function<std::shared_ptr<WeightStore>(const FileBytes& file)>;

// The tensors of one file, mapped.
std::shared_ptr<const WeightStore> read_file(const std::filesystem::path& path, const ParseWeights& parse);

// The tensors of a file or, if it is an index, of all files that it names: {"weight_map": {"tensor": "file", ...}}, as
// transformers writes it beside the parts of a large checkpoint. File names are bare names inside the folder, and every
// tensor is in the file that is named for it. As in transformers, what else these files have belongs to the checkpoint
// too; a name may be in one of them only. Throws FileError: which file, which tensor, what was found, what was
// expected.
std::shared_ptr<const WeightStore> read_weights(const std::filesystem::path& file_or_index, const ParseWeights& parse);

}  // namespace encdec
