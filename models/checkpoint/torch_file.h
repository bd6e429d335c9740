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

// The content of a file that torch.save wrote, in either of its forms: the pickle of the object, and the storages that
// the pickle names.
struct TorchFile {
  const FileBytes& source;  // the file's bytes, which everything else views
  Pickle pickle;
  std::map<std::string, std::span<const std::byte>, std::less<>> storages;  // by key
};

// Opens a file that torch.save wrote.
//
// Since torch 1.6 it is a zip archive with NAME/data.pkl, the pickle, and NAME/data/KEY, the storages, all
// uncompressed. Before, and with torch.save(..., _use_new_zipfile_serialization=False), the file has these parts in
// sequence:
// - the pickles of a magic number, of the version 1001, and of a dict that describes the machine;
// - the pickle of the object;
// - the pickle of a list of the storages' keys;
// - for each key the number of its elements, 64 bits, and the elements.
// Only the ids in the object's pickle say which type a storage has. Storages are not aligned, so tensors are not
// either.
//
// Throws FileError for other files, TorchScript programs and files of big-endian machines. Also for a storage that is a
// part of another, a key with no id or with ids of different sizes, a number of elements that differs from the id's,
// and bytes after the last storage. REQUIRES: `file` outlives the result.
TorchFile open_torch_file(const FileBytes& file);

// The type name of a storage that has no element type.
inline constexpr std::string_view kUntypedStorage = "UntypedStorage";

// Returns the element type of a dtype, such as torch.float8_e4m3fn. Null for other globals.
const StoredType* dtype_type(const Pickle::Global& global);

// The functions of torch that make tensors:
// - tensor(storage, offset, sizes, strides, ...);
// - typed_tensor: the same for a storage without a type, with the dtype as argument 6;
// - parameter(tensor, ...);
// - with_attributes(function, class, arguments, attributes).
enum class TorchBuilder { tensor, typed_tensor, parameter, with_attributes };
std::optional<TorchBuilder> torch_builder(const Pickle::Global& global);

// Maximum length of names and keys. A pickle can use one long text for many tensors, and each use copies or compares
// it.
inline constexpr std::size_t kMaxTorchNameBytes = 1000;

// The id by which a pickle refers to a storage: ('storage', class, key, device, number of elements). Before torch 1.6 a
// sixth item is None, or says which part of another storage this is.
struct TorchStorageId {
  const StoredType* type = nullptr;
  std::string_view key;
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
};

// Reads the id of a storage. Throws FileError, beginning with `where`, if the object is not such an id or if the
// storage is a part of another.
TorchStorageId read_storage_id(const Pickle& pickle, Pickle::Index object, std::string_view where);

}  // namespace encdec
