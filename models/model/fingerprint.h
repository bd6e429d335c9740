#pragma once

#include <filesystem>
#include <string>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/checkpoint/packed_weights_file.h"

namespace encdec {

// Returns the hash as hexadecimal digits.
std::string to_string(const ContentHash& hash);

// Returns a hash of the names, types, shapes and bytes of all tensors.
ContentHash content_of(const WeightStore& store);

// Adds everything but the weights that decides how matrix products round and how weights are packed: the versions of
// this library and of oneDNN, the backends that multiply on this CPU, and the instructions that it uses.
void add_kernels(ContentHasher& hasher, const PackOptions& pack);

// Computes Model::fingerprint() of a model that was loaded from `folder`.
std::string fingerprint(const std::filesystem::path& folder, const Checkpoint& checkpoint, const PackOptions& pack);

}  // namespace encdec
