#include "encdec/models/checkpoint/shards.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json.h"

namespace encdec {
namespace {

constexpr std::string_view kIndexEnding = ".index.json";

// The stores of the files that an index names, by file name. Every tensor is where the index says.
std::map<std::string, WeightStore> read_listed(const std::filesystem::path& folder, const JsonObject& index,
                                               const ReadWeights& read_file) {
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

std::shared_ptr<const WeightStore> read_shards(const std::filesystem::path& index, const ReadWeights& read_file) {
  const std::filesystem::path folder = index.has_parent_path() ? index.parent_path() : ".";
  auto store = std::make_shared<WeightStore>(folder.string());
  for (const auto& [file, shard] : read_listed(folder, read_json_object(index), read_file)) {
    for (const auto& [name, tensor] : shard.tensors()) {
      if (store->find(name) != nullptr) {
        throw FileError(fmt::format("{}: tensor '{}' is in another file of {} too, expected it once", shard.origin(),
                                    printable(name), index.string()));
      }
      store->add(name, tensor);
    }
    store->add_memories_of(shard);
  }
  return store;
}

}  // namespace

void check_bare_name(const std::string& name, const std::string& where) {
  if (name.empty() || name == "." || name == ".." || name.find_first_of(std::string_view("/\\\0", 3)) != name.npos) {
    throw FileError(fmt::format("{}: file name '{}', expected a bare name inside the folder", where, printable(name)));
  }
}

std::filesystem::path find_weights(const std::filesystem::path& folder_or_file, const std::string& name) {
  std::error_code unknown;  // opening the file will say why
  if (!std::filesystem::is_directory(folder_or_file, unknown)) return folder_or_file;
  for (const std::string& candidate : {name, name + std::string(kIndexEnding)}) {
    if (std::filesystem::exists(folder_or_file / candidate, unknown)) return folder_or_file / candidate;
  }
  throw FileError(
      fmt::format("{}: neither {} nor {}{}, expected one of them", folder_or_file.string(), name, name, kIndexEnding));
}

std::shared_ptr<const WeightStore> read_weights(const std::filesystem::path& file_or_index,
                                                const ReadWeights& read_file) {
  if (file_or_index.native().ends_with(kIndexEnding)) return read_shards(file_or_index, read_file);
  auto store = std::make_shared<WeightStore>(file_or_index.string());
  read_file(file_or_index, *store);
  return store;
}

}  // namespace encdec
