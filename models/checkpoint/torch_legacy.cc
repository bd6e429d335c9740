#include "encdec/models/checkpoint/torch_legacy.h"

#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/byte_reader.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/torch_globals.h"

namespace encdec {
namespace {

using StorageIds = std::map<std::string_view, TorchStorageId>;

bool allow_nothing(const Pickle::Global&) {
  return false;
}

// The pickle at the reader's position. `what` is for messages, as in "FILE: WHAT: byte 5: ...".
Pickle take_pickle(ByteReader& reader, std::span<const std::byte> bytes, std::string_view what,
                   Pickle::Allowed allowed) {
  Pickle pickle =
      Pickle::first_of(bytes.subspan(reader.position()), fmt::format("{}: {}", reader.file(), what), allowed);
  reader.take(pickle.size(), what);
  return pickle;
}

void check_version(const Pickle& pickle, const std::string& file) {
  constexpr std::int64_t kVersion = 1001;
  const auto* version = pickle.get<std::int64_t>(pickle.root());
  if (version == nullptr || *version != kVersion) {
    throw FileError(fmt::format("{}: version {}, expected {}", file,
                                version == nullptr ? "?" : std::to_string(*version), kVersion));
  }
}

void check_byte_order(const Pickle& pickle, const std::string& file) {
  const auto* machine = pickle.get<Pickle::Dict>(pickle.root());
  if (machine == nullptr) throw FileError(fmt::format("{}: machine: no dict, expected one", file));
  bool is_known = false;
  for (const auto& [key, value] : machine->items) {
    const auto* name = pickle.get<Pickle::Text>(key);
    if (name == nullptr || name->text != "little_endian") continue;
    const auto* is_little = pickle.get<bool>(value);
    if (is_little == nullptr || !*is_little) {
      throw FileError(fmt::format("{}: written by a big-endian machine, expected a little-endian one", file));
    }
    is_known = true;
  }
  if (!is_known) throw FileError(fmt::format("{}: machine: 'little_endian' is missing, expected it true", file));
}

// The first id of each storage: what its elements are is what they are there.
StorageIds read_storage_ids(const Pickle& pickle, const std::string& file) {
  StorageIds ids;
  const std::string where = fmt::format("{}: object", file);
  for (Pickle::Index i = 0; i < pickle.objects().size(); ++i) {
    if (pickle.get<Pickle::Persistent>(i) == nullptr) continue;
    const TorchStorageId id = read_storage_id(pickle, i, where);
    const auto [first, is_new] = ids.emplace(id.key, id);
    if (!is_new && first->second.bytes != id.bytes) {
      throw FileError(fmt::format("{}: storage '{}' of {} bytes and of {}, expected one size", file, printable(id.key),
                                  first->second.bytes, id.bytes));
    }
  }
  return ids;
}

}  // namespace

bool is_torch_legacy(std::span<const std::byte> bytes) {
  // 0x1950a86a20f9469cfc6c and the end of its pickle, behind a protocol and perhaps a frame.
  constexpr std::string_view kMagic("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 13);
  const std::string_view head = as_text(bytes.first(std::min<std::size_t>(bytes.size(), 32)));
  return head.starts_with('\x80') && head.find(kMagic) != head.npos;
}

TorchFile open_torch_legacy(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                            const std::string& file) {
  ByteReader reader(bytes, file);
  take_pickle(reader, bytes, "magic number", allow_nothing);
  check_version(take_pickle(reader, bytes, "version", allow_nothing), file);
  check_byte_order(take_pickle(reader, bytes, "machine", allow_nothing), file);
  TorchFile opened{file, owner, take_pickle(reader, bytes, "object", is_torch_global), {}};
  const StorageIds ids = read_storage_ids(opened.pickle, file);
  const Pickle keys = take_pickle(reader, bytes, "keys of storages", allow_nothing);

  const auto* list = keys.get<Pickle::List>(keys.root());
  if (list == nullptr) throw FileError(fmt::format("{}: keys of storages: no list, expected one", file));
  for (const Pickle::Index item : list->items) {
    const auto* key = keys.get<Pickle::Text>(item);
    const auto id = key == nullptr ? ids.end() : ids.find(key->text);
    if (id == ids.end()) {
      throw FileError(fmt::format("{}: storage '{}' is not used, expected ones that are: nothing says its type", file,
                                  key == nullptr ? "?" : printable(key->text)));
    }
    const auto elements = reader.number<std::uint64_t>("the size of a storage");
    if (elements != id->second.elements) {
      throw FileError(fmt::format("{}: storage '{}' of {} elements, expected {} as in its id", file,
                                  printable(key->text), elements, id->second.elements));
    }
    const auto storage = reader.take(id->second.bytes, "a storage");
    if (!opened.storages.emplace(key->text, storage).second) {
      throw FileError(fmt::format("{}: storage '{}' is there twice, expected it once", file, printable(key->text)));
    }
  }
  if (reader.left() > 0)
    throw FileError(fmt::format("{}: {} bytes behind the end, expected none", file, reader.left()));
  return opened;
}

}  // namespace encdec
