#include "encdec/models/checkpoint/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "encdec/engine/checked_math.h"
#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {
namespace {

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kLengthBytes = 8;

// Where a tensor lies in the data part of the file.
struct Entry {
  std::string name;
  DataType type;
  Shape shape;
  std::uint64_t begin;
  std::uint64_t end;
};

std::optional<DataType> type_named(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, DataType>, 10> kTypes = {{{"F32", DataType::float32},
                                                                             {"F16", DataType::float16},
                                                                             {"BF16", DataType::bfloat16},
                                                                             {"F64", DataType::float64},
                                                                             {"I8", DataType::int8},
                                                                             {"I16", DataType::int16},
                                                                             {"I32", DataType::int32},
                                                                             {"I64", DataType::int64},
                                                                             {"U8", DataType::uint8},
                                                                             {"BOOL", DataType::boolean}}};
  for (const auto& [known, type] : kTypes) {
    if (known == name) return type;
  }
  return std::nullopt;
}

std::uint64_t length_of_header(std::span<const std::byte> bytes, const std::string& file) {
  if (bytes.size() < kLengthBytes) {
    throw FileError(
        fmt::format("{}: {} bytes, expected a safetensors header of at least {}", file, bytes.size(), kLengthBytes));
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  if (length > kMaxHeaderBytes || length > bytes.size() - kLengthBytes) {
    throw FileError(fmt::format("{}: header length {}, expected at most {} (file of {} bytes)", file, length,
                                std::min<std::uint64_t>(kMaxHeaderBytes, bytes.size() - kLengthBytes), bytes.size()));
  }
  return length;
}

Entry read_entry(const std::string& name, const nlohmann::json& value, const std::string& file) {
  const std::string where = fmt::format("{}: tensor '{}'", file, name);
  if (!value.is_object()) throw FileError(fmt::format("{}: {}, expected an object", where, value.type_name()));
  const JsonObject object(value, where);
  const std::string type_name = object.required_string("dtype");
  const auto type = type_named(type_name);
  if (!type) throw FileError(fmt::format("{}: dtype '{}' is not supported", where, type_name));
  constexpr IntegerRange kNotNegative{0, std::numeric_limits<std::int64_t>::max()};
  if (!object.has("shape")) throw FileError(fmt::format("{}: 'shape' is missing", where));
  const auto dims = object.integers("shape", kNotNegative);
  if (dims.size() > Shape::kMaxRank) {
    throw FileError(fmt::format("{}: {} dimensions, expected at most {}", where, dims.size(), Shape::kMaxRank));
  }
  const auto offsets = object.integers("data_offsets", kNotNegative);
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    throw FileError(fmt::format("{}: data_offsets [{}], expected a begin and an end", where, fmt::join(offsets, ", ")));
  }
  const Shape shape{std::span<const Dim>(dims)};
  std::optional<std::uint64_t> size = size_of(*type);
  for (const Dim dim : dims) {
    if (size) size = checked_multiply<std::uint64_t>(*size, static_cast<std::uint64_t>(dim));
  }
  const auto found = static_cast<std::uint64_t>(offsets[1] - offsets[0]);
  if (!size || *size != found) {
    throw FileError(fmt::format("{}: {} bytes at data_offsets [{}], expected {} for {} of shape {}", where, found,
                                fmt::join(offsets, ", "), size ? std::to_string(*size) : "fewer than 2^64", type_name,
                                to_string(shape)));
  }
  return {name, *type, shape, static_cast<std::uint64_t>(offsets[0]), static_cast<std::uint64_t>(offsets[1])};
}

void check_metadata(const nlohmann::json& value, const std::string& file) {
  const auto is_string = [](const nlohmann::json& item) { return item.is_string(); };
  if (!value.is_object() || !std::all_of(value.begin(), value.end(), is_string)) {
    throw FileError(fmt::format("{}: __metadata__ is not an object of strings", file));
  }
}

// Tensors must fill the data part exactly, in whatever order the header lists them.
void check_layout(std::vector<Entry>& entries, std::uint64_t data_bytes, const std::string& file) {
  std::ranges::sort(entries, {}, [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
  std::uint64_t position = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != position) {
      throw FileError(fmt::format("{}: tensor '{}': data begins at byte {}, expected {} (no holes, no overlaps)", file,
                                  entry.name, entry.begin, position));
    }
    position = entry.end;
  }
  if (position != data_bytes) {
    throw FileError(fmt::format("{}: tensors end at byte {} of the data, expected {}: the file is {}", file, position,
                                data_bytes, position > data_bytes ? "truncated" : "longer than its header says"));
  }
}

void read_file(const std::filesystem::path& path, WeightStore& store) {
  const auto file = MappedFile::open(path);
  parse_safetensors(file->bytes(), file, path.string(), store);
}

void check_bare_name(const std::string& name, const std::string& index) {
  if (name.empty() || name == "." || name == ".." ||
      name.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos) {
    throw FileError(fmt::format("{}: file name '{}', expected a bare name inside the folder", index, name));
  }
}

std::shared_ptr<const WeightStore> read_shards(const std::filesystem::path& folder,
                                               const std::filesystem::path& index_path) {
  const JsonObject index = read_json_object(index_path);
  const auto map = index.value().find("weight_map");
  if (map == index.value().end() || !map->is_object()) {
    throw FileError(fmt::format("{}: 'weight_map' is missing, expected an object of file names", index.file()));
  }
  std::map<std::string, WeightStore> shards;
  auto store = std::make_shared<WeightStore>(folder.string());
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string()) throw FileError(fmt::format("{}: weight_map '{}' is not a file name", index.file(), tensor));
    const auto& name = file.get_ref<const std::string&>();
    auto shard = shards.find(name);
    if (shard == shards.end()) {
      check_bare_name(name, index.file());
      shard = shards.emplace(name, WeightStore((folder / name).string())).first;
      read_file(folder / name, shard->second);
    }
    const Tensor* found = shard->second.find(tensor);
    if (found == nullptr) {
      throw FileError(
          fmt::format("{}: tensor '{}' is missing, {} says it is here", shard->second.origin(), tensor, index.file()));
    }
    store->add(tensor, *found);
  }
  return store;
}

}  // namespace

void parse_safetensors(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                       const std::string& file, WeightStore& store) {
  const std::uint64_t header_bytes = length_of_header(bytes, file);
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, header_bytes);
  if (!header.starts_with('{')) throw FileError(fmt::format("{}: the header does not begin with '{{'", file));
  const JsonObject object(parse_json(header, file), file);

  std::vector<Entry> entries;
  for (const auto& [name, value] : object.value().items()) {
    if (name == "__metadata__") {
      check_metadata(value, file);
    } else {
      entries.push_back(read_entry(name, value, file));
    }
  }
  const std::span<const std::byte> data = bytes.subspan(kLengthBytes + header_bytes);
  check_layout(entries, data.size(), file);
  for (const Entry& entry : entries) {
    // Tensors of a store are read-only: the mapping is too.
    auto* begin = const_cast<std::byte*>(data.data() + entry.begin);
    store.add(entry.name, Tensor(begin, entry.type, entry.shape, owner));
  }
}

std::shared_ptr<const WeightStore> read_safetensors(const std::filesystem::path& folder) {
  const std::filesystem::path single = folder / "model.safetensors", index = folder / "model.safetensors.index.json";
  if (!std::filesystem::exists(single) && std::filesystem::exists(index)) return read_shards(folder, index);
  auto store = std::make_shared<WeightStore>(single.string());
  read_file(single, *store);
  return store;
}

}  // namespace encdec
