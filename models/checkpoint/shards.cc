#include "encdec/models/checkpoint/shards.h"

#include <nlohmann/json.hpp>
#include <set>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/json.h"

namespace encdec {
namespace {

constexpr std::string_view kIndexEnding = ".index.json";

// Reads the files that an index lists, with the same result as transformers. If two files contain the same tensor, the
// file whose name sorts last counts. The index may list tensors that no file contains, such as tied tensors.
std::shared_ptr<const WeightStore> read_shards(const std::filesystem::path& path, const ParseWeights& parse) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const JsonObject index = read_json_object(path);
  const auto map = index.value().find("weight_map");
  if (map == index.value().end() || !map->is_object()) {
    refuse(index.file(), "'weight_map' is missing, expected an object of file names");
  }
  // The names are in descending order, because only the first tensor that is added under a name counts.
  std::set<std::string, std::greater<>> names;
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string()) {
      refuse(index.file(), "tensor '{}': {}, expected a file name", printable(tensor), file.type_name());
    }
    names.insert(file.get<std::string>());
  }
  auto store = std::make_shared<WeightStore>(folder.string());
  for (const std::string& name : names) {
    if (!is_plain_file_name(name)) {
      refuse(index.file(), "file name '{}', expected a bare name inside the folder", printable(name));
    }
    const auto shard = read_file(folder / name, parse);
    for (const auto& [tensor, values] : shard->tensors()) {
      if (store->find(tensor) == nullptr) store->add(tensor, values);
    }
    store->add_files_of(*shard);
  }
  return store;
}

}  // namespace

std::filesystem::path find_weights(const std::filesystem::path& folder_or_file, const std::string& name) {
  std::error_code unknown;  // ignored, because opening the file reports the error
  if (!std::filesystem::is_directory(folder_or_file, unknown)) return folder_or_file;
  for (const std::string& candidate : {name, name + std::string(kIndexEnding)}) {
    if (file_exists(folder_or_file / candidate)) return folder_or_file / candidate;
  }
  refuse(folder_or_file.string(), "neither {} nor {}{}, expected one of them", name, name, kIndexEnding);
}

std::shared_ptr<const WeightStore> read_file(const std::filesystem::path& path, const ParseWeights& parse) {
  const auto file = MappedFile::open(path);
  auto store = parse({file->bytes(), file, path.string()});
  store->add_file(file);
  return store;
}

std::shared_ptr<const WeightStore> read_weights(const std::filesystem::path& file_or_index, const ParseWeights& parse) {
  return file_or_index.native().ends_with(kIndexEnding) ? read_shards(file_or_index, parse)
                                                        : read_file(file_or_index, parse);
}

}  // namespace encdec
