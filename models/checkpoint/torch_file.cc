#include "encdec/models/checkpoint/torch_file.h"

#include <fmt/format.h>

#include "encdec/engine/checked_math.h"
#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/torch_globals.h"

namespace encdec {
namespace {

[[noreturn]] void fail(std::string_view where, std::string_view found) {
  throw FileError(fmt::format("{}: {}", where, found));
}

std::string_view text(const Pickle& pickle, Pickle::Index object, std::string_view where, std::string_view what) {
  const auto* found = pickle.get<Pickle::Text>(object);
  if (found == nullptr) fail(where, fmt::format("the {} of its storage is no string", what));
  return found->text;
}

}  // namespace

TorchStorageId read_storage_id(const Pickle& pickle, Pickle::Index object, std::string_view where) {
  const auto* persistent = pickle.get<Pickle::Persistent>(object);
  const auto* tuple = persistent == nullptr ? nullptr : pickle.get<Pickle::Tuple>(persistent->id);
  if (tuple == nullptr || tuple->items.size() < 5 || text(pickle, tuple->items[0], where, "kind") != "storage") {
    fail(where, "made of something else, expected a storage of the file");
  }
  const auto& items = tuple->items;
  if (items.size() > 5 && pickle.get<Pickle::None>(items[5]) == nullptr) {
    fail(where,
         "a storage that is a part of another, expected a whole one: loading and saving it with torch 1.6 or later "
         "makes it one");
  }

  TorchStorageId id;
  if (const auto* global = pickle.get<Pickle::Global>(items[1])) id.type = storage_type(*global);
  if (id.type == nullptr) fail(where, "a storage of an unknown class, expected one of torch's");
  id.key = text(pickle, items[2], where, "key");
  if (id.key.size() > kMaxTorchNameBytes) {
    fail(where,
         fmt::format("the key of its storage has {} bytes, expected at most {}", id.key.size(), kMaxTorchNameBytes));
  }
  const auto* elements = pickle.get<std::int64_t>(items[4]);
  if (elements == nullptr || *elements < 0) {
    fail(where, "the size of its storage is no size, expected an integer of at least 0");
  }
  id.elements = static_cast<std::uint64_t>(*elements);
  const auto bytes = checked_multiply(id.elements, id.type->bytes);
  if (!bytes) fail(where, fmt::format("a storage of {} {} elements, expected fewer", id.elements, id.type->name));
  id.bytes = *bytes;
  return id;
}

}  // namespace encdec
