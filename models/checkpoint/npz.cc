#include "encdec/models/checkpoint/npz.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "encdec/engine/checked_math.h"
#include "encdec/models/checkpoint/byte_reader.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/npy_header.h"
#include "encdec/models/checkpoint/tensor_layout.h"
#include "encdec/models/checkpoint/zip_archive.h"

namespace encdec {
namespace {

constexpr std::uint32_t kMaxNpyHeaderBytes = 64u << 10;
constexpr std::string_view kNpyMagic("\x93NUMPY", 6);
constexpr std::string_view kEnding = ".npy";

// NumPy's names without the byte order: '<' for numbers of several bytes, '|' for those of one.
constexpr std::array<StoredType, 15> kNumpyTypes = {{{"<f4", 4, DataType::float32},
                                                     {"<f2", 2, DataType::float16},
                                                     {"<f8", 8, DataType::float64},
                                                     {"|i1", 1, DataType::int8},
                                                     {"<i2", 2, DataType::int16},
                                                     {"<i4", 4, DataType::int32},
                                                     {"<i8", 8, DataType::int64},
                                                     {"|u1", 1, DataType::uint8},
                                                     {"|b1", 1, DataType::boolean},
                                                     {"<u2", 2, {}},
                                                     {"<u4", 4, {}},
                                                     {"<u8", 8, {}},
                                                     {"<f16", 16, {}},
                                                     {"<c8", 8, {}},
                                                     {"<c16", 16, {}}}};

const StoredType& type_named(std::string_view descr, const std::string& where) {
  const auto found = std::ranges::find(kNumpyTypes, descr, &StoredType::name);
  if (found != kNumpyTypes.end()) return *found;
  const std::string_view what = descr.starts_with('>') ? "big-endian type" : "type";
  throw FileError(
      fmt::format("{}: {} '{}', expected plain little-endian numbers such as '<f4'", where, what, printable(descr)));
}

NpyHeader read_header(ByteReader& reader, const std::string& where) {
  const auto magic = as_text(reader.take(kNpyMagic.size(), "the magic string"));
  const unsigned major = reader.number<std::uint8_t>("the version");
  const unsigned minor = reader.number<std::uint8_t>("the version");
  if (magic != kNpyMagic) {
    throw FileError(fmt::format("{}: begins with '{}', expected a NumPy array", where, printable(magic)));
  }
  if (major < 1 || major > 3 || minor != 0) {
    throw FileError(fmt::format("{}: version {}.{} of the format, expected 1.0, 2.0 or 3.0", where, major, minor));
  }
  const std::uint32_t length = major == 1 ? reader.number<std::uint16_t>("the header's length")
                                          : reader.number<std::uint32_t>("the header's length");
  if (length > kMaxNpyHeaderBytes) {
    throw FileError(fmt::format("{}: a header of {} bytes, expected at most {}", where, length, kMaxNpyHeaderBytes));
  }
  return parse_npy_header(as_text(reader.take(length, "the header")), where);
}

// Column-major: the first index moves fastest.
std::vector<std::uint64_t> strides_of(const NpyHeader& header) {
  std::vector<std::uint64_t> strides(header.shape.size(), 1);
  const std::size_t rank = strides.size();
  for (std::size_t i = 1; i < rank; ++i) {
    const std::size_t axis = header.fortran_order ? i : rank - 1 - i;
    const std::size_t faster = header.fortran_order ? axis - 1 : axis + 1;
    strides[axis] = strides[faster] * header.shape[faster];
  }
  return strides;
}

Tensor read_array(const ZipArchive::Content& content, const std::string& where) {
  ByteReader reader(content.bytes, where);
  const NpyHeader header = read_header(reader, where);
  const StoredType& type = type_named(header.descr, where);
  auto bytes = checked_elements(header.shape);
  if (bytes) bytes = checked_multiply(*bytes, type.bytes);
  if (!bytes || *bytes != reader.left()) {
    throw FileError(fmt::format("{}: {} bytes of data, expected as many as '{}' of shape ({}) takes", where,
                                reader.left(), header.descr, fmt::join(header.shape, ", ")));
  }
  const auto data = reader.take(reader.left(), "the data");
  const auto strides = strides_of(header);
  return stored_tensor(data, type, {header.shape, strides, 0}, content.owner);
}

}  // namespace

void parse_npz(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner, const std::string& file,
               WeightStore& store) {
  const ZipArchive archive(bytes, owner, file);
  std::vector<std::pair<std::string, Tensor>> arrays;
  for (const ZipEntry& entry : archive.entries()) {
    if (!entry.name.ends_with(kEnding)) {
      throw FileError(
          fmt::format("{}: entry '{}', expected only arrays, NAME{}", file, printable(entry.name), kEnding));
    }
    const std::string name = entry.name.substr(0, entry.name.size() - kEnding.size());
    const std::string where = fmt::format("{}: array '{}'", file, printable(name));
    if (store.find(name) != nullptr) {
      throw FileError(fmt::format("{}: is in another file too, expected it once", where));
    }
    arrays.emplace_back(name, read_array(archive.read(entry), where));
  }
  for (auto& [name, array] : arrays) store.add(std::move(name), std::move(array));
}

std::shared_ptr<const WeightStore> read_npz(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  auto store = std::make_shared<WeightStore>(path.string());
  parse_npz(file->bytes(), file, path.string(), *store);
  store->add_memory(file);
  return store;
}

}  // namespace encdec
