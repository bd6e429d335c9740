#pragma once

#include <filesystem>
#include <string>

#include "encdec/engine/base/precision.h"
#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/checkpoint/packed_weights_file.h"

namespace encdec {

// Hexadecimal digits.
std::string to_string(const ContentHash& hash);

// The hash of names, types, shapes and bytes of all tensors.
ContentHash content_of(const WeightStore& store);

// Adds what decides how matmuls round, and how weights are packed: version of this library, who multiplies in that
// precision on this CPU, and for which instructions.
void add_kernels(ContentHasher& hasher, Precision precision);

// See Model::fingerprint(). `store` has the weights of the checkpoint in this folder or file.
std::string fingerprint(const std::filesystem::path& folder_or_file, CheckpointFormat format, const WeightStore& store,
                        Precision precision);

}  // namespace encdec
