#pragma once

#include <memory>
#include <span>
#include <string>

#include "encdec/models/checkpoint/torch_file.h"

namespace encdec {

// Whether a file begins as torch before 1.6 wrote it: with the pickle of a magic number.
bool is_torch_legacy(std::span<const std::byte> bytes);

// Opens a file of torch before 1.6, or of torch.save(..., _use_new_zipfile_serialization=False): one after another
//   the pickles of a magic number, of the version 1001, and of a dict that describes the machine,
//   the pickle of the object,
//   the pickle of a list of the storages' keys,
//   for each key the number of its elements, 64 bits, and the elements.
// What an element is, only the ids in the object's pickle say. Storages lie anywhere, so that tensors are unaligned.
// Throws FileError for files of big-endian machines, storages that are parts of others, keys that no id or two sizes
// belong to, counts that are not those of the ids, and bytes behind the last storage.
TorchFile open_torch_legacy(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                            const std::string& file);

}  // namespace encdec
