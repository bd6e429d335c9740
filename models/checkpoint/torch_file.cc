#include "encdec/models/checkpoint/torch_file.h"

#include <algorithm>
#include <array>

#include "encdec/engine/base/checked_math.h"
#include "encdec/models/checkpoint/byte_reader.h"
#include "encdec/models/checkpoint/zip_archive.h"

namespace encdec {
namespace {

constexpr StoredType kUntyped = {.bits = 8, .type = DataType::uint8, .torch = kUntypedStorage};

// Returns the element type of a storage class, such as torch.FloatStorage. Returns null for other globals.
const StoredType* storage_type(const Pickle::Global& global) {
  if (global.module == "torch.storage" && global.name == kUntypedStorage) return &kUntyped;
  return global.module == "torch" ? stored_type(&StoredType::torch_storage, global.name) : nullptr;
}

// Returns true if a checkpoint may use this global: a storage class, a dtype, a tensor builder, or a class of the small
// objects that ordinary checkpoints store with tensors.
bool is_torch_global(const Pickle::Global& global) {
  constexpr std::array<Pickle::Global, 7> kHarmless = {{{"torch", "Size"},
                                                        {"torch", "device"},
                                                        {"torch", "Tensor"},
                                                        {"torch.nn.parameter", "Parameter"},
                                                        {"torch.nn.parameter", "Buffer"},
                                                        {"collections", "Counter"},
                                                        {"_codecs", "encode"}}};
  return torch_builder(global) || storage_type(global) != nullptr || dtype_type(global) != nullptr ||
         std::ranges::find(kHarmless, global) != kHarmless.end();
}

// Returns the name of the folder that contains data.pkl, with a slash at the end. The name differs between archives.
std::string find_folder(const ZipArchive& zip) {
  constexpr std::string_view kPickle = "data.pkl";
  const ZipEntry* found = nullptr;
  for (const ZipEntry& entry : zip.entries()) {
    const std::size_t slash = entry.name.find('/');
    if (slash == entry.name.npos || std::string_view(entry.name).substr(slash + 1) != kPickle) continue;
    if (found != nullptr) {
      refuse(zip.file(), "entries '{}' and '{}', expected one {}", printable(found->name), printable(entry.name),
             kPickle);
    }
    found = &entry;
  }
  if (found == nullptr)
    refuse(zip.file(), "a zip archive without NAME/{}, expected a file that torch.save wrote", kPickle);
  return found->name.substr(0, found->name.size() - kPickle.size());
}

std::span<const std::byte> view(const ZipArchive& zip, const ZipEntry& entry) {
  if (entry.method != ZipEntry::Method::stored) {
    refuse(zip.file(), "entry '{}' is compressed, expected it stored", printable(entry.name));
  }
  return zip.read(entry).bytes;
}

// Opens a file in the format of torch 1.6 and later, a zip archive.
TorchFile open_archive(const FileBytes& file) {
  const ZipArchive zip(file);
  const std::string folder = find_folder(zip);
  if (zip.find(folder + "constants.pkl") != nullptr) {
    refuse(file.name, "a TorchScript program, expected the weights of one: torch.save(state_dict)");
  }
  if (const ZipEntry* entry = zip.find(folder + "byteorder")) {
    const auto order = as_text(view(zip, *entry));
    if (order != "little") refuse(file.name, "byte order '{}', expected 'little'", printable(order));
  }
  const auto pickle = view(zip, *zip.find(folder + "data.pkl"));
  TorchFile opened{file, Pickle(pickle, fmt::format("{}: data.pkl", file.name), is_torch_global), {}};
  const std::string storages = folder + "data/";
  for (const ZipEntry& entry : zip.entries()) {
    if (!entry.name.starts_with(storages)) continue;
    opened.storages.emplace(entry.name.substr(storages.size()), view(zip, entry));
  }
  return opened;
}

// Returns true if a file has the format of torch before 1.6.
bool is_legacy(std::span<const std::byte> bytes) {
  // The pickled magic number 0x1950a86a20f9469cfc6c, with the STOP opcode that ends its pickle.
  constexpr std::string_view kMagic("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 13);
  const std::string_view head = as_text(bytes.first(std::min<std::size_t>(bytes.size(), 32)));
  return head.starts_with('\x80') && head.find(kMagic) != head.npos;
}

// Reads the pickle at the reader's position. Error messages begin with "FILE: WHAT: byte 5: ".
Pickle take_pickle(
    ByteReader& reader, const FileBytes& file, std::string_view what,
    Pickle::Allowed allowed = [](const Pickle::Global&) { return false; }) {
  const auto rest = file.bytes.subspan(reader.position());
  Pickle pickle = Pickle::first_of(rest, fmt::format("{}: {}", file.name, what), allowed);
  reader.take(pickle.size(), what);
  return pickle;
}

void check_version(const Pickle& pickle, const std::string& file) {
  constexpr std::int64_t kVersion = 1001;
  const auto* version = pickle.get<std::int64_t>(pickle.root());
  if (version != nullptr && *version == kVersion) return;
  refuse(file, "version {}, expected {}", version == nullptr ? "?" : std::to_string(*version), kVersion);
}

void check_byte_order(const Pickle& pickle, const std::string& file) {
  const auto* machine = pickle.get<Pickle::Dict>(pickle.root());
  if (machine == nullptr) refuse(file, "machine: not a dict, expected one");
  bool is_known = false;
  for (const auto& [key, value] : machine->items) {
    const auto* name = pickle.get<Pickle::Text>(key);
    if (name == nullptr || name->text != "little_endian") continue;
    const auto* is_little = pickle.get<bool>(value);
    if (is_little == nullptr || !*is_little) {
      refuse(file, "written by a big-endian machine, expected a little-endian one");
    }
    is_known = true;
  }
  if (!is_known) refuse(file, "machine: 'little_endian' is missing, expected it true");
}

// Returns, for each storage key, the first id with that key. The id contains the storage's type.
std::map<std::string_view, TorchStorageId> read_storage_ids(const Pickle& pickle, const std::string& file) {
  std::map<std::string_view, TorchStorageId> ids;
  const std::string where = fmt::format("{}: object", file);
  for (Pickle::Index i = 0; i < pickle.objects().size(); ++i) {
    if (pickle.get<Pickle::Persistent>(i) == nullptr) continue;
    const TorchStorageId id = read_storage_id(pickle, i, where);
    const auto [first, is_new] = ids.emplace(id.key, id);
    if (!is_new && first->second.bytes != id.bytes) {
      refuse(file, "storage '{}' of {} bytes and of {}, expected one size", printable(id.key), first->second.bytes,
             id.bytes);
    }
  }
  return ids;
}

// Opens a file in the format of torch before 1.6, which open_torch_file() describes.
TorchFile open_legacy(const FileBytes& file) {
  ByteReader reader(file.bytes, file.name);
  take_pickle(reader, file, "magic number");
  check_version(take_pickle(reader, file, "version"), file.name);
  check_byte_order(take_pickle(reader, file, "machine"), file.name);
  TorchFile opened{file, take_pickle(reader, file, "object", is_torch_global), {}};
  const auto ids = read_storage_ids(opened.pickle, file.name);
  const Pickle keys = take_pickle(reader, file, "storage keys");

  // The storages follow in the order of the keys. The ids contain the storages' types.
  const auto* list = keys.get<Pickle::List>(keys.root());
  if (list == nullptr) refuse(file.name, "storage keys: not a list, expected one");
  for (const Pickle::Index item : list->items) {
    const auto* key = keys.get<Pickle::Text>(item);
    const auto id = key == nullptr ? ids.end() : ids.find(key->text);
    if (id == ids.end()) {
      refuse(file.name, "storage '{}' is not used, so its type is unknown; expected only used storages",
             key == nullptr ? "?" : printable(key->text));
    }
    const auto elements = reader.number<std::uint64_t>("the size of a storage");
    if (elements != id->second.elements) {
      refuse(file.name, "storage '{}' of {} elements, expected {} as in its id", printable(key->text), elements,
             id->second.elements);
    }
    const auto storage = reader.take(id->second.bytes, "a storage");
    if (!opened.storages.emplace(key->text, storage).second) {
      refuse(file.name, "storage '{}' is there twice, expected it once", printable(key->text));
    }
  }
  if (reader.left() > 0) refuse(file.name, "{} bytes after the end, expected none", reader.left());
  return opened;
}

// Returns a string that is part of a storage id. `what` is the name of the part in error messages.
std::string_view text(const Pickle& pickle, Pickle::Index object, std::string_view where, std::string_view what) {
  const auto* found = pickle.get<Pickle::Text>(object);
  if (found == nullptr) refuse(where, "the {} of its storage is not a string", what);
  return found->text;
}

}  // namespace

const StoredType* dtype_type(const Pickle::Global& global) {
  return global.module == "torch" ? stored_type(&StoredType::torch, global.name) : nullptr;
}

std::optional<TorchBuilder> torch_builder(const Pickle::Global& global) {
  if (global.module == "torch._utils") {
    if (global.name == "_rebuild_tensor" || global.name == "_rebuild_tensor_v2") return TorchBuilder::tensor;
    if (global.name == "_rebuild_tensor_v3") return TorchBuilder::typed_tensor;
    if (global.name == "_rebuild_parameter" || global.name == "_rebuild_parameter_with_state")
      return TorchBuilder::parameter;
  }
  if (global.module == "torch._tensor" && global.name == "_rebuild_from_type_v2") return TorchBuilder::with_attributes;
  return std::nullopt;
}

TorchFile open_torch_file(const FileBytes& file) {
  if (is_legacy(file.bytes)) return open_legacy(file);
  const std::string_view head = as_text(file.bytes);
  // A tar archive has "ustar" at byte 257 of its first header.
  if (head.size() > 262 && head.substr(257, 5) == "ustar") {
    refuse(file.name,
           "in the tar format of torch before 0.1.10, expected a newer format: load and save the file with a newer "
           "torch");
  }
  return open_archive(file);
}

TorchStorageId read_storage_id(const Pickle& pickle, Pickle::Index object, std::string_view where) {
  const auto* persistent = pickle.get<Pickle::Persistent>(object);
  const auto* tuple = persistent == nullptr ? nullptr : pickle.get<Pickle::Tuple>(persistent->id);
  if (tuple == nullptr || tuple->items.size() < 5 || text(pickle, tuple->items[0], where, "kind") != "storage") {
    refuse(where, "made of something else, expected a storage of the file");
  }
  const auto& items = tuple->items;
  if (items.size() > 5 && pickle.get<Pickle::None>(items[5]) == nullptr) {
    refuse(where,
           "a view of another storage, expected a whole storage: load and save the file with torch 1.6 or later");
  }
  TorchStorageId id;
  if (const auto* global = pickle.get<Pickle::Global>(items[1])) id.type = storage_type(*global);
  if (id.type == nullptr) refuse(where, "a storage of an unknown class, expected one of torch's");
  // Items 2 and 4 of the tuple are the key and the number of elements.
  id.key = text(pickle, items[2], where, "key");
  if (id.key.size() > kMaxTorchNameBytes) {
    refuse(where, "the key of its storage has {} bytes, expected at most {}", id.key.size(), kMaxTorchNameBytes);
  }
  const auto* elements = pickle.get<std::int64_t>(items[4]);
  if (elements == nullptr || *elements < 0) {
    refuse(where, "the size of its storage is not a size, expected an integer of at least 0");
  }
  id.elements = static_cast<std::uint64_t>(*elements);
  const auto bytes = checked_multiply(id.elements, id.type->bytes());
  if (!bytes) refuse(where, "a storage of {} {} elements, expected fewer", id.elements, id.type->torch);
  id.bytes = *bytes;
  return id;
}

}  // namespace encdec
