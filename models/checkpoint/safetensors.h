#pragma once

#include <filesystem>
#include <memory>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// Reads the weights of a checkpoint in the safetensors format. The path is a folder with model.safetensors, a folder
// with the files listed in its model.safetensors.index.json (see read_weights() in shards.h), or such a file or index
// itself. Files are memory-mapped. Tensors are views of the files and keep them open. They are aligned to their element
// size at best, and their bytes are not checked. Truncating a file while it is in use ends the process: see MappedFile.
//
// A file must keep every rule of the format (github.com/huggingface/safetensors, README):
// - The header has at most 100,000,000 bytes and lies inside the file. It is JSON that begins with '{', with no tensor
//   twice.
// - A tensor's dtype is one of the format, and its dtype and shape give exactly the size of its range of bytes.
// - The ranges cover the file from the header to the end without gaps or overlaps, in any order in the header. An empty
//   tensor may lie at any boundary.
// A tensor of more than 4 dimensions, or of a type that DataType does not have (8-bit floats, ...), becomes uint8
// [bytes], so that a model which does not use it can be loaded. Unknown keys of a tensor are ignored.
//
// Throws FileError naming the file and the tensor, with what was found and what was expected.
std::shared_ptr<const WeightStore> read_safetensors(const std::filesystem::path& folder_or_file);

// The same for the bytes of one file. Memory grows with the number of tensors, not with the sizes that the header
// claims.
std::shared_ptr<WeightStore> parse_safetensors(const FileBytes& file);

}  // namespace encdec
