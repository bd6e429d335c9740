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

// Adds what affects the rounding of matrix products and the packing of weights, except the weights: the versions of
// this library and of oneDNN, the backends, and the CPU instructions used.
void add_kernels(ContentHasher& hasher, const PackOptions& pack);

// Computes Model::fingerprint() of a model loaded from `folder`.
std::string fingerprint(const std::filesystem::path& folder, const Checkpoint& checkpoint, const PackOptions& pack);

}  // namespace encdec
