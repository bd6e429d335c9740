#include "encdec/models/checkpoint/torch_archive.h"

#include <fmt/format.h>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/byte_reader.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/torch_globals.h"
#include "encdec/models/checkpoint/zip_archive.h"

namespace encdec {
namespace {

// The name of the archive's top folder, which may be any, with a slash.
std::string find_folder(const ZipArchive& zip) {
  constexpr std::string_view kPickle = "data.pkl";
  const ZipEntry* found = nullptr;
  for (const ZipEntry& entry : zip.entries()) {
    const std::size_t slash = entry.name.find('/');
    if (slash == entry.name.npos || std::string_view(entry.name).substr(slash + 1) != kPickle) continue;
    if (found != nullptr) {
      throw FileError(fmt::format("{}: entries '{}' and '{}', expected one {}", zip.file(), printable(found->name),
                                  printable(entry.name), kPickle));
    }
    found = &entry;
  }
  if (found == nullptr) {
    throw FileError(
        fmt::format("{}: a zip archive without NAME/{}, expected what torch.save writes", zip.file(), kPickle));
  }
  return found->name.substr(0, found->name.size() - kPickle.size());
}

std::span<const std::byte> view(const ZipArchive& zip, const ZipEntry& entry) {
  if (entry.method != ZipEntry::Method::stored) {
    throw FileError(fmt::format("{}: entry '{}' is compressed, expected it stored", zip.file(), printable(entry.name)));
  }
  return zip.read(entry).bytes;
}

void check_kind(const ZipArchive& zip, const std::string& folder) {
  if (zip.find(folder + "constants.pkl") != nullptr) {
    throw FileError(
        fmt::format("{}: a TorchScript program, expected the weights of one: torch.save(state_dict)", zip.file()));
  }
  if (const ZipEntry* entry = zip.find(folder + "byteorder")) {
    const auto order = as_text(view(zip, *entry));
    if (order != "little") {
      throw FileError(fmt::format("{}: byte order '{}', expected 'little'", zip.file(), printable(order)));
    }
  }
}

}  // namespace

TorchFile open_torch_archive(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                             const std::string& file) {
  const ZipArchive zip(bytes, owner, file);
  const std::string folder = find_folder(zip);
  check_kind(zip, folder);
  const auto pickle = view(zip, *zip.find(folder + "data.pkl"));
  TorchFile opened{file, owner, Pickle(pickle, fmt::format("{}: data.pkl", file), is_torch_global), {}};
  const std::string storages = folder + "data/";
  for (const ZipEntry& entry : zip.entries()) {
    if (!entry.name.starts_with(storages)) continue;
    opened.storages.emplace(entry.name.substr(storages.size()), view(zip, entry));
  }
  return opened;
}

}  // namespace encdec
