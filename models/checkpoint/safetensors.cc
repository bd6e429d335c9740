#include "encdec/models/checkpoint/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/safetensors_header.h"

namespace encdec {
namespace {

// The format is little-endian, and tensors are views of the file.
static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kLengthBytes = 8;
constexpr std::string_view kIndexEnding = ".index.json";

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::size_t length_of_header(std::span<const std::byte> bytes, const std::string& file) {
  if (as_text(bytes).starts_with("version https://git-lfs")) {
    throw FileError(fmt::format("{}: a pointer of Git LFS, expected the file itself: git lfs pull gets it", file));
  }
  if (bytes.size() < kLengthBytes) {
    throw FileError(fmt::format("{}: {} bytes, expected a header of at least {}", file, bytes.size(), kLengthBytes));
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  const auto limit = std::min<std::uint64_t>(kMaxHeaderBytes, bytes.size() - kLengthBytes);
  if (length > limit) {
    throw FileError(fmt::format("{}: a header of {} bytes, expected at most {} in a file of {}", file, length, limit,
                                bytes.size()));
  }
  return static_cast<std::size_t>(length);
}

void read_file(const std::filesystem::path& path, WeightStore& store) {
  const auto file = MappedFile::open(path);
  parse_safetensors(file->bytes(), file, path.string(), store);
}

// A name inside a file must not lead out of the folder.
void check_bare_name(const std::string& name, const std::string& index) {
  if (name.empty() || name == "." || name == ".." || name.find_first_of(std::string_view("/\\\0", 3)) != name.npos) {
    throw FileError(fmt::format("{}: file name '{}', expected a bare name inside the folder", index, printable(name)));
  }
}

// The stores of the files that an index names, by file name. Every tensor is where the index says.
std::map<std::string, WeightStore> read_listed(const std::filesystem::path& folder, const JsonObject& index) {
  const auto map = index.value().find("weight_map");
  if (map == index.value().end() || !map->is_object()) {
    throw FileError(fmt::format("{}: 'weight_map' is missing, expected an object of file names", index.file()));
  }
  std::map<std::string, WeightStore> shards;
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string()) {
      throw FileError(
          fmt::format("{}: tensor '{}': {}, expected a file name", index.file(), printable(tensor), file.type_name()));
    }
    const auto& name = file.get_ref<const std::string&>();
    auto shard = shards.find(name);
    if (shard == shards.end()) {
      check_bare_name(name, index.file());
      shard = shards.emplace(name, WeightStore((folder / name).string())).first;
      read_file(folder / name, shard->second);
    }
    if (shard->second.find(tensor) == nullptr) {
      throw FileError(fmt::format("{}: tensor '{}' is missing, expected it here as {} says", shard->second.origin(),
                                  printable(tensor), index.file()));
    }
  }
  return shards;
}

std::shared_ptr<const WeightStore> read_shards(const std::filesystem::path& index) {
  const std::filesystem::path folder = index.has_parent_path() ? index.parent_path() : ".";
  auto store = std::make_shared<WeightStore>(folder.string());
  for (const auto& [file, shard] : read_listed(folder, read_json_object(index))) {
    for (const auto& [name, tensor] : shard.tensors()) {
      if (store->find(name) != nullptr) {
        throw FileError(fmt::format("{}: tensor '{}' is in another file of {} too, expected it once", shard.origin(),
                                    printable(name), index.string()));
      }
      store->add(name, tensor);
    }
  }
  return store;
}

}  // namespace

void parse_safetensors(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                       const std::string& file, WeightStore& store) {
  const std::size_t header_bytes = length_of_header(bytes, file);
  const auto header = as_text(bytes.subspan(kLengthBytes, header_bytes));
  const auto data = bytes.subspan(kLengthBytes + header_bytes);
  for (auto& [name, type, shape, begin, end] : read_safetensors_header(header, data.size(), file)) {
    // Tensors of a store are read-only: the mapping is too.
    auto* values = const_cast<std::byte*>(data.data() + begin);
    store.add(std::move(name), Tensor(values, type, shape, owner));
  }
}

std::shared_ptr<const WeightStore> read_safetensors(const std::filesystem::path& folder_or_file) {
  std::filesystem::path file = folder_or_file;
  std::error_code unknown;  // opening the file will say why
  if (std::filesystem::is_directory(folder_or_file, unknown)) {
    file = folder_or_file / "model.safetensors";
    const std::filesystem::path index = folder_or_file / "model.safetensors.index.json";
    if (!std::filesystem::exists(file, unknown)) file = index;
    if (!std::filesystem::exists(file, unknown)) {
      throw FileError(fmt::format("{}: neither {} nor {}, expected one of them", folder_or_file.string(),
                                  "model.safetensors", index.filename().string()));
    }
  }
  if (file.native().ends_with(kIndexEnding)) return read_shards(file);
  auto store = std::make_shared<WeightStore>(file.string());
  read_file(file, *store);
  return store;
}

}  // namespace encdec
