#include "encdec/models/checkpoint/marian_binary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/checkpoint/byte_reader.h"
#include "encdec/models/checkpoint/checkpoint_format.h"
#include "encdec/models/checkpoint/marian_files.h"
#include "encdec/models/checkpoint/npz.h"
#include "encdec/models/checkpoint/shards.h"
#include "encdec/models/checkpoint/tensor_layout.h"
#include "encdec/models/checkpoint/unpacked_file.h"
#include "encdec/models/checkpoint/yaml.h"

namespace encdec {
namespace {

constexpr std::uint64_t kMaxItemNameBytes = 1 << 12;
constexpr std::uint64_t kMaxItemRank = 32;
constexpr std::uint64_t kFirstPackedType = 0x800;  // lowest code of the types that are packed for one kind of CPU

// An element type in Marian's file format (marian-dev, src/common/types.h).
struct MarianType {
  std::uint64_t code;
  std::string_view safetensors_name;  // see StoredType
  bool is_quantized = false;
};
constexpr std::array kTypes = {
    MarianType{0x101, "I8"},        MarianType{0x102, "I16"},        MarianType{0x104, "I32"}, MarianType{0x201, "U8"},
    MarianType{0x204, "U32"},       MarianType{0x402, "F16"},        MarianType{0x404, "F32"}, MarianType{0x408, "F64"},
    MarianType{0x4101, "I8", true}, MarianType{0x4102, "I16", true},
};

// The header of an item. An item is a named tensor.
struct Item {
  std::string name;
  std::string where;  // start of every error message
  MarianType type = {};
  std::uint64_t rank = 0;
  std::vector<std::uint64_t> shape = {};
  std::uint64_t bytes = 0;  // size of the data, including padding
};

MarianType type_of(std::uint64_t code, const std::string& where) {
  const auto found = std::ranges::find(kTypes, code, &MarianType::code);
  if (found != kTypes.end()) return *found;
  refuse(where, "type {:#x}, which is {}; expected float32, float16, integers, intgemm8 or intgemm16", code,
         code >= kFirstPackedType ? "packed for one kind of CPU" : "unknown");
}

// Reads the headers of all items: first the fixed-size headers, then all names, then all shapes.
// Leaves the reader at the first item's data.
std::vector<Item> read_items(ByteReader& reader) {
  if (reader.number<std::uint64_t>("the version") != kMarianBinaryVersion) {
    refuse(reader.file(), "version other than {}, expected a Marian binary file", kMarianBinaryVersion);
  }
  const auto count = reader.number<std::uint64_t>("the number of items");
  // Refuse an impossible count before memory is allocated.
  constexpr std::uint64_t kItemHeaderBytes = 32;
  if (count > reader.left() / kItemHeaderBytes) {
    refuse(reader.file(), "{} items in {} bytes: the file is truncated or damaged", count, reader.left());
  }
  struct Header {
    std::uint64_t name_bytes, type, rank, data_bytes;
  };
  std::vector<Header> headers(static_cast<std::size_t>(count));
  for (Header& header : headers) {
    header.name_bytes = reader.number<std::uint64_t>("an item");
    header.type = reader.number<std::uint64_t>("an item");
    header.rank = reader.number<std::uint64_t>("an item");
    header.data_bytes = reader.number<std::uint64_t>("an item");
  }
  std::vector<Item> items;
  for (const Header& header : headers) {
    if (header.name_bytes == 0 || header.name_bytes > kMaxItemNameBytes || header.rank > kMaxItemRank) {
      refuse(reader.file(), "item {} has a name of {} bytes and {} dimensions, expected at most {} and {}",
             items.size() + 1, header.name_bytes, header.rank, kMaxItemNameBytes, kMaxItemRank);
    }
    std::string name(as_text(reader.take(header.name_bytes, "a name")));
    // The stored name ends with a NUL byte.
    name.resize(std::min(name.find('\0'), name.size()));
    const std::string where = fmt::format("{}: item '{}'", reader.file(), printable(name));
    items.push_back({.name = std::move(name),
                     .where = where,
                     .type = type_of(header.type, where),
                     .rank = header.rank,
                     .bytes = header.data_bytes});
  }
  for (Item& item : items) {
    for (std::uint64_t axis = 0; axis < item.rank; ++axis) {
      const auto size = static_cast<std::int32_t>(reader.number<std::uint32_t>("a shape"));
      if (size < 0) refuse(item.where, "a dimension of {}, expected at least 0", size);
      item.shape.push_back(static_cast<std::uint64_t>(size));
    }
  }
  reader.take(reader.number<std::uint64_t>("the size of the gap"), "the gap");
  return items;
}

// Reads the data of `item` at the reader's position, and adds the item to `store`.
void add_item(Item& item, ByteReader& reader, const std::shared_ptr<const void>& owner, WeightStore& store) {
  const StoredType& type = *stored_type(&StoredType::safetensors, item.type.safetensors_name);
  const auto bytes = stored_bytes(type, item.shape);
  const std::uint64_t scale_bytes = item.type.is_quantized ? sizeof(float) : 0;
  if (!bytes || item.bytes < scale_bytes || *bytes > item.bytes - scale_bytes) {
    refuse(item.where, "{} bytes of data, too few for a tensor of shape ({})", item.bytes, fmt::join(item.shape, ", "));
  }
  const std::span<const std::byte> data = reader.take(item.bytes, "data");
  const std::span<const std::byte> run = data.first(static_cast<std::size_t>(*bytes));
  if (!item.type.is_quantized) return store.add(item.name, stored_tensor(run, type, {item.shape}, owner));
  // Quantised items are stored transposed, except embeddings. The multiplier of an item follows its integers.
  if (item.name.find("Wemb") == std::string::npos) std::ranges::reverse(item.shape);
  Tensor scale = Tensor::allocate({1});
  std::memcpy(scale.data<float>(), data.data() + run.size(), sizeof(float));
  const float multiplier = *scale.data<float>();
  if (!std::isfinite(multiplier) || multiplier <= 0) {
    refuse(item.where, "multiplier {}, expected a number above 0", multiplier);
  }
  store.add(item.name, stored_tensor(run, type, {item.shape}, owner), scale);
}

// Opens a .npz file, or a .bin file that may be compressed. The tensor special:model.yml contains the model's options.
void open_marian(const std::filesystem::path& file, Checkpoint& checkpoint) {
  constexpr std::string_view kOptions = "special:model.yml";
  const bool is_npz = file.extension() == ".npz";
  const bool is_packed = without_packing(file.native()) != file.native();
  checkpoint.format = is_npz ? CheckpointFormat::npz : CheckpointFormat::marian;
  checkpoint.weights = is_npz      ? read_npz(file)
                       : is_packed ? parse_marian_binary(read_unpacked(file))
                                   : read_file(file, parse_marian_binary);
  checkpoint.settings.form = CheckpointSettings::Form::marian;
  checkpoint.settings.network.reset();
  checkpoint.settings.tokens_are_texts = true;
  const std::string where = fmt::format("{}: {}", file.string(), kOptions);
  if (const auto options = text(*checkpoint.weights, kOptions)) {
    if (options->size() > kMaxConfigBytes) {
      refuse(where, "{} bytes, expected at most {}", options->size(), kMaxConfigBytes);
    }
    checkpoint.settings.network = JsonObject(parse_yaml(*options, where), where);
  }
}

}  // namespace

std::shared_ptr<WeightStore> parse_marian_binary(const FileBytes& file) {
  refuse_git_lfs_pointer(file.bytes, file.name);
  ByteReader reader(file.bytes, file.name);
  std::vector<Item> items = read_items(reader);
  auto store = std::make_shared<WeightStore>(file.name);
  for (Item& item : items) add_item(item, reader, file.owner, *store);
  return store;
}

FormatRow marian_format() {
  return {.format = CheckpointFormat::npz,
          .files = "one .npz file or model*.bin of Marian",
          .find = [](const CheckpointFolder& folder) -> std::optional<std::filesystem::path> {
            return MarianFiles(folder.path).model();
          },
          .open = open_marian};
}

}  // namespace encdec
