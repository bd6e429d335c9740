#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/pickle.h"
#include "encdec/models/checkpoint/tensor_layout.h"

namespace encdec {

// The content of a file that torch.save wrote: the object's pickle, and the storages by key.
struct TorchFile {
  const FileBytes& source;  // bytes of the file; the other members are views of them
  Pickle pickle;
  std::map<std::string, std::span<const std::byte>, std::less<>> storages;  // by key
};

// Opens a file that torch.save wrote.
//
// Since torch 1.6, such a file is a zip archive with uncompressed entries: NAME/data.pkl, the pickle, and
// NAME/data/KEY, the storages. Older files, and files of torch.save(..., _use_new_zipfile_serialization=False), are a
// sequence of:
// - pickles of a magic number, of the version 1001, and of a dict that describes the machine;
// - the pickle of the object;
// - the pickle of a list of storage keys;
// - for each key, the number of elements in 64 bits, then the elements, unaligned.
// The type of a storage is only in the ids in the object's pickle.
//
// Throws FileError for other files, TorchScript programs, files of big-endian machines, storages that are views of
// others, keys without an id or with contradictory ids, and trailing bytes. REQUIRES: `file` outlives the result.
TorchFile open_torch_file(const FileBytes& file);

// The class of a storage without an element type.
inline constexpr std::string_view kUntypedStorage = "UntypedStorage";

// Returns the element type of a dtype, such as torch.float8_e4m3fn; null for other globals.
const StoredType* dtype_type(const Pickle::Global& global);

// torch's functions that build tensors:
// - tensor(storage, offset, sizes, strides, ...);
// - typed_tensor: as `tensor`, for a storage without a type, with the dtype as argument 6;
// - parameter(tensor, ...);
// - with_attributes(function, class, arguments, attributes).
enum class TorchBuilder { tensor, typed_tensor, parameter, with_attributes };
std::optional<TorchBuilder> torch_builder(const Pickle::Global& global);

// Maximum length of names and keys. A pickle can use one long text for many tensors.
inline constexpr std::size_t kMaxTorchNameBytes = 1000;

// A pickle's reference to a storage: ('storage', class, key, device, number of elements). Before
// torch 1.6 it has a sixth item, which is not None if the storage is a view of another storage.
struct TorchStorageId {
  const StoredType* type = nullptr;
  std::string_view key;
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
};

// Reads a storage id. Throws FileError, beginning with `where`, if the id is invalid or its storage is a view.
TorchStorageId read_storage_id(const Pickle& pickle, Pickle::Index object, std::string_view where);

}  // namespace encdec
