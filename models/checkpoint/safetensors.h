#pragma once

#include <filesystem>
#include <memory>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// The weights of a checkpoint in the safetensors format: a folder with model.safetensors or with the files that its
// model.safetensors.index.json lists, or one file of either kind. Memory-mapped: tensors are views of the files and
// keep them open. They are aligned to their element size at best, and their bytes are not looked at. Files that are
// truncated while they are in use end the process: see MappedFile.
//
// A file is refused unless it keeps every rule of the format (github.com/huggingface/safetensors, README):
// - a header of at most 100,000,000 bytes inside the file: JSON that begins with '{', with no tensor twice;
// - a dtype of the format, and a size of the shape, that is exactly as large as the range of bytes;
// - ranges that follow each other from the header to the end of the file, in any order in the header, without holes or
//   overlaps; tensors without elements may lie at any boundary.
// Tensors of more than 4 dimensions, and of types that DataType does not have (8-bit floats, ...), are given as their
// bytes, uint8 [bytes]: a model that does not use them loads. Unknown keys of a tensor are ignored.
//
// In an index, file names are bare names inside the folder, and every tensor is in the file that is named for it. As in
// transformers, what else these files have belongs to the checkpoint too; a name may be in one of them only.
//
// Throws FileError: which file, which tensor, what was found, what was expected.
std::shared_ptr<const WeightStore> read_safetensors(const std::filesystem::path& folder_or_file);

// The same for one file that is given as its bytes. Memory grows with the number of tensors, not with what the header
// claims.
std::shared_ptr<WeightStore> parse_safetensors(const FileBytes& file);

}  // namespace encdec
