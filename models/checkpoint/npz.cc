#include "encdec/models/checkpoint/npz.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/models/checkpoint/byte_reader.h"
#include "encdec/models/checkpoint/shards.h"
#include "encdec/models/checkpoint/tensor_layout.h"
#include "encdec/models/checkpoint/zip_archive.h"

namespace encdec {
namespace {

constexpr std::uint32_t kMaxNpyHeaderBytes = 64u << 10;
constexpr std::size_t kMaxNpyFrontBytes = kMaxNpyHeaderBytes + 12;  // header plus magic string, version and length
constexpr std::size_t kMaxNpyRank = 32;                             // limit of NumPy 1
constexpr std::string_view kNpyMagic("\x93NUMPY", 6);
constexpr std::string_view kEnding = ".npy";

// The content of a .npy header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

// Parses the header, a Python literal. Accepts one dict with the three keys in any order, strings without escapes, and
// at most 32 sizes. For anything else, throws a FileError whose message begins with `where`.
class NpyHeaderParser {
 public:
  NpyHeaderParser(std::string_view text, const std::string& where) : rest_(text), where_(where) {}

  NpyHeader parse() {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::uint64_t>> shape;
    expect('{');
    // Read the pairs of a key and a value. A comma may follow the last pair.
    while (!take('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !descr) {
        descr = string();
      } else if (key == "fortran_order" && !fortran_order) {
        fortran_order = boolean();
      } else if (key == "shape" && !shape) {
        shape = sizes();
      } else {
        fail("descr, fortran_order and shape, each once");
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty()) fail("nothing after the dict");
    if (!descr || !fortran_order || !shape) fail("descr, fortran_order and shape");
    return {*std::move(descr), *fortran_order, *std::move(shape)};
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    refuse(where_, "'{}' in the header, expected {}", printable(rest_.substr(0, 40)), expected);
  }

  // Each of the functions below skips whitespace, then parses one element of the header.
  void skip_space() {
    const std::size_t end = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end);
  }

  bool take(char wanted) {
    skip_space();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) fail(fmt::format("'{}'", wanted));
  }

  std::string string() {
    skip_space();
    const char quote = rest_.starts_with('"') ? '"' : '\'';
    const std::size_t end = rest_.starts_with(quote) ? rest_.find(quote, 1) : rest_.npos;
    if (end == rest_.npos) fail("a string");
    const std::string_view content = rest_.substr(1, end - 1);
    if (content.find('\\') != content.npos) fail("a string without escapes");
    rest_.remove_prefix(end + 1);
    return std::string(content);
  }

  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return word == "True";
    }
    fail("True or False");
  }

  // Parses a tuple: (), (3,) or (2, 3). A single size must be followed by a comma.
  std::vector<std::uint64_t> sizes() {
    std::vector<std::uint64_t> result;
    expect('(');
    while (!take(')')) {
      if (result.size() == kMaxNpyRank) fail(fmt::format("at most {} sizes", kMaxNpyRank));
      result.push_back(size());
      if (take(',')) continue;
      if (result.size() == 1) fail("a comma: a tuple");
      expect(')');
      break;
    }
    return result;
  }

  std::uint64_t size() {
    skip_space();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) fail("a size of at most 64 bits");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // Python 2 adds L to long integers
    return value;
  }

  std::string_view rest_;
  const std::string& where_;
};

const StoredType& type_named(std::string_view descr, const std::string& where) {
  if (const StoredType* found = stored_type(&StoredType::numpy, descr)) return *found;
  refuse(where, "{} '{}', expected plain little-endian numbers such as '<f4'",
         descr.starts_with('>') ? "big-endian type" : "type", printable(descr));
}

// Reads the magic string, the format version and the header of an array.
NpyHeader read_header(ByteReader& reader, const std::string& where) {
  const auto magic = as_text(reader.take(kNpyMagic.size(), "the magic string"));
  const unsigned major = reader.number<std::uint8_t>("the version");
  const unsigned minor = reader.number<std::uint8_t>("the version");
  if (magic != kNpyMagic) refuse(where, "begins with '{}', expected a NumPy array", printable(magic));
  if (major < 1 || major > 3 || minor != 0) {
    refuse(where, "version {}.{} of the format, expected 1.0, 2.0 or 3.0", major, minor);
  }
  const std::uint32_t length = major == 1 ? reader.number<std::uint16_t>("the header's length")
                                          : reader.number<std::uint32_t>("the header's length");
  if (length > kMaxNpyHeaderBytes) {
    refuse(where, "a header of {} bytes, expected at most {}", length, kMaxNpyHeaderBytes);
  }
  return NpyHeaderParser(as_text(reader.take(length, "the header")), where).parse();
}

struct ListedArray {
  const ZipEntry* entry = nullptr;
  std::string name;   // name of the tensor
  std::string where;  // start of every error message
  NpyHeader header;
  const StoredType* type = nullptr;
  std::size_t data_begin = 0;
};

// Reads only the header of an array, so that an inconsistent array is refused before memory is allocated for its data.
ListedArray list_array(const ZipArchive& archive, const ZipEntry& entry) {
  if (!entry.name.ends_with(kEnding)) {
    refuse(archive.file(), "entry '{}', expected only arrays, NAME{}", printable(entry.name), kEnding);
  }
  ListedArray array;
  array.entry = &entry;
  array.name = entry.name.substr(0, entry.name.size() - kEnding.size());
  array.where = fmt::format("{}: array '{}'", archive.file(), printable(array.name));
  const FileBytes front = archive.read_front(entry, kMaxNpyFrontBytes);
  ByteReader reader(front.bytes, array.where);
  array.header = read_header(reader, array.where);
  array.type = &type_named(array.header.descr, array.where);
  array.data_begin = reader.position();
  const std::uint64_t data_bytes = entry.size - array.data_begin;
  if (stored_bytes(*array.type, array.header.shape) != data_bytes) {
    refuse(array.where, "{} bytes of data, expected as many as '{}' of shape ({}) takes", data_bytes,
           array.header.descr, fmt::join(array.header.shape, ", "));
  }
  return array;
}

Tensor read_array(const ZipArchive& archive, const ListedArray& array) {
  const FileBytes content = archive.read(*array.entry);
  std::vector<std::uint64_t> strides;
  if (array.header.fortran_order) {  // column-major: the first index has stride 1
    std::uint64_t stride = 1;
    for (const std::uint64_t size : array.header.shape) strides.push_back(std::exchange(stride, stride * size));
  }
  return stored_tensor(content.bytes.subspan(array.data_begin), *array.type, {array.header.shape, strides},
                       content.owner);
}

}  // namespace

std::shared_ptr<WeightStore> parse_npz(const FileBytes& file) {
  const ZipArchive archive(file);
  std::vector<ListedArray> arrays;
  for (const ZipEntry& entry : archive.entries()) arrays.push_back(list_array(archive, entry));
  auto store = std::make_shared<WeightStore>(file.name);
  for (const ListedArray& array : arrays) store->add(array.name, read_array(archive, array));
  return store;
}

std::shared_ptr<const WeightStore> read_npz(const std::filesystem::path& path) {
  return read_file(path, parse_npz);
}

}  // namespace encdec
