#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "encdec/engine/weights.h"

namespace encdec {

// The weights of a checkpoint folder in the safetensors format: model.safetensors, or the files that
// model.safetensors.index.json lists. Memory-mapped: tensors are views of the files, aligned to their element size
// only, and keep them open. The bytes of the tensors are not looked at.
//
// A file is refused unless it keeps every rule of the format (github.com/huggingface/safetensors, README): a header of
// at most 100,000,000 bytes inside the file, beginning with '{', no name twice, shapes that match their byte ranges,
// byte ranges that follow each other without holes or overlaps and end with the file. Beyond the format, tensors have
// at most 4 dimensions and a type that DataType knows. In an index, file names are bare names inside the folder, and
// every tensor is in the file that the index says; tensors that the index does not list are left out, as in
// transformers. Throws FileError: which file, which tensor, what was found, what was expected.
std::shared_ptr<const WeightStore> read_safetensors(const std::filesystem::path& folder);

// Adds the tensors of one file, given as its bytes, to a store. `owner` keeps the bytes alive, `file` names them in
// messages.
void parse_safetensors(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                       const std::string& file, WeightStore& store);

}  // namespace encdec
