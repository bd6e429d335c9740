#pragma once

#include <memory>
#include <span>
#include <string>

#include "encdec/models/checkpoint/torch_file.h"

namespace encdec {

// Opens a file of torch 1.6 or later: a zip archive with NAME/data.pkl, the pickle, and NAME/data/KEY, the storages,
// all stored. Throws FileError for other archives, TorchScript programs, and files of big-endian machines.
TorchFile open_torch_archive(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                             const std::string& file);

}  // namespace encdec
