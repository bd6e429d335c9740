#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "encdec/models/checkpoint/pickle.h"
#include "encdec/models/checkpoint/tensor_layout.h"

namespace encdec {

// What torch.save put into a file, in whichever form: the pickle of the object, and the storages that it names.
struct TorchFile {
  std::string name;                   // begins messages
  std::shared_ptr<const void> owner;  // of the bytes that all of it views
  Pickle pickle;
  std::map<std::string, std::span<const std::byte>, std::less<>> storages;  // by key
};

// Of names and keys: a pickle can use one long text for many tensors, and each would copy or compare it.
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
