#pragma once

#include <filesystem>
#include <memory>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// Reads the weights of a checkpoint in the safetensors format. The path is a folder with
// model.safetensors or model.safetensors.index.json (see shards.h), or such a file. Tensors are
// views of the mapped files and keep them open. Tensors are at best aligned to their element size;
// their bytes are not checked. Truncating a file while in use ends the process: see MappedFile.
//
// A file must follow the rules of the format (github.com/huggingface/safetensors, README):
// - The header has at most 100,000,000 bytes. It is JSON that begins with '{'; names are unique.
// - A tensor's dtype is known, and its dtype and shape match the size of its byte range.
// - The ranges cover the file from the header to the end without gaps or overlaps, in any order. An
//   empty tensor may lie at any boundary.
// Unknown keys of a tensor are ignored. A tensor of more than 4 dimensions, or of a type without a
// DataType (8-bit floats, ...), becomes uint8 [bytes]. Throws FileError, naming the file and the
// tensor.
std::shared_ptr<const WeightStore> read_safetensors(const std::filesystem::path& folder_or_file);

// Parses the bytes of one safetensors file. Memory depends on the number of tensors, not on their sizes.
std::shared_ptr<WeightStore> parse_safetensors(const FileBytes& file);

}  // namespace encdec
