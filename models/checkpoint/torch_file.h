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

// What torch.save put into a file, in whichever form: the pickle of the object, and the storages that it names.
struct TorchFile {
  const FileBytes& source;  // which all of it views
  Pickle pickle;
  std::map<std::string, std::span<const std::byte>, std::less<>> storages;  // by key
};

// The file of torch 1.6 or later is a zip archive with NAME/data.pkl, the pickle, and NAME/data/KEY, the storages, all
// stored. Before, and with torch.save(..., _use_new_zipfile_serialization=False), it is one after another
//   the pickles of a magic number, of the version 1001, and of a dict that describes the machine,
//   the pickle of the object,
//   the pickle of a list of the storages' keys,
//   for each key the number of its elements, 64 bits, and the elements.
// What an element is, only the ids in the object's pickle say. Storages lie anywhere, so that tensors are unaligned.
//
// Throws FileError for other files, TorchScript programs, and files of big-endian machines; for storages that are parts
// of others, keys that no id or two sizes belong to, counts that are not those of the ids, and bytes behind the last
// storage. `file` must outlive what is given.
TorchFile open_torch_file(const FileBytes& file);

// The name of the type that a storage without type has.
inline constexpr std::string_view kUntypedStorage = "UntypedStorage";

// The elements of a tensor, by its dtype: torch.float8_e4m3fn. Null for other globals.
const StoredType* dtype_type(const Pickle::Global& global);

// Functions that make tensors:
// - tensor(storage, offset, sizes, strides, ...);
// - typed_tensor, the same over a storage without type, with the dtype as argument 6;
// - parameter(tensor, ...);
// - with_attributes(function, class, arguments, attributes).
enum class TorchBuilder { tensor, typed_tensor, parameter, with_attributes };
std::optional<TorchBuilder> torch_builder(const Pickle::Global& global);

// A limit for names and keys: a pickle can use one long text for many tensors, and each would copy or compare it.
inline constexpr std::size_t kMaxTorchNameBytes = 1000;

// The id by which a pickle names a storage, outside of it: ('storage', class, key, device, number of elements), and in
// files before torch 1.6 the part of another storage that it is, or None.
struct TorchStorageId {
  const StoredType* type = nullptr;
  std::string_view key;
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
};

// Throws FileError, beginning with `where`, if the object is no such id, or that of a part of another storage.
TorchStorageId read_storage_id(const Pickle& pickle, Pickle::Index object, std::string_view where);

}  // namespace encdec
