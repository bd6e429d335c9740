#include "encdec/models/checkpoint/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "encdec/engine/checked_math.h"
#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/json_events.h"

namespace encdec {
namespace {

constexpr std::uint64_t kMaxSize = INT64_MAX;  // of a dimension, and of a tensor in elements
constexpr std::size_t kMaxFileRank = 32;       // as in NumPy 1

// A type of the format. What DataType does not know is kept as bytes.
struct FileType {
  std::string_view name;
  std::uint64_t bits;
  std::optional<DataType> type;
};

constexpr std::array<FileType, 22> kFileTypes = {{{"F32", 32, DataType::float32},
                                                  {"F16", 16, DataType::float16},
                                                  {"BF16", 16, DataType::bfloat16},
                                                  {"F64", 64, DataType::float64},
                                                  {"I8", 8, DataType::int8},
                                                  {"I16", 16, DataType::int16},
                                                  {"I32", 32, DataType::int32},
                                                  {"I64", 64, DataType::int64},
                                                  {"U8", 8, DataType::uint8},
                                                  {"BOOL", 8, DataType::boolean},
                                                  {"U16", 16, {}},
                                                  {"U32", 32, {}},
                                                  {"U64", 64, {}},
                                                  {"C64", 64, {}},
                                                  {"F8_E4M3", 8, {}},
                                                  {"F8_E5M2", 8, {}},
                                                  {"F8_E8M0", 8, {}},
                                                  {"F8_E4M3FNUZ", 8, {}},
                                                  {"F8_E5M2FNUZ", 8, {}},
                                                  {"F6_E2M3", 6, {}},
                                                  {"F6_E3M2", 6, {}},
                                                  {"F4", 4, {}}}};

// The product, nullopt beyond kMaxSize. Zeros are left out, so that no product of some of the dimensions overflows.
std::optional<std::uint64_t> product_of_nonzero(const std::vector<Dim>& dims) {
  std::optional<std::uint64_t> product = 1;
  for (const Dim dim : dims) {
    if (dim != 0) product = checked_multiply(*product, static_cast<std::uint64_t>(dim));
    if (!product || *product > kMaxSize) return std::nullopt;
  }
  return product;
}

// Takes the header token by token: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}.
class HeaderReader final : public JsonEvents {
 public:
  using JsonEvents::JsonEvents;
  using json = nlohmann::json;

  std::vector<SafetensorsEntry> take() { return std::move(entries_); }

  bool null() override { return place_ == Place::metadata ? go(Place::header) : scalar("null"); }
  bool boolean(bool value) override { return scalar(value ? "true" : "false"); }
  bool number_integer(json::number_integer_t value) override { return scalar(std::to_string(value)); }
  bool number_float(json::number_float_t, const std::string& text) override { return scalar(printable(text)); }

  bool number_unsigned(json::number_unsigned_t value) override {
    if (place_ == Place::sizes && value <= kMaxSize && dims_->size() < kMaxFileRank) {
      dims_->push_back(static_cast<Dim>(value));
      return true;
    }
    if (place_ == Place::offsets && offsets_->size() < 2) {
      offsets_->push_back(value);
      return true;
    }
    return scalar(std::to_string(value));
  }

  bool string(std::string& value) override {
    if (place_ == Place::metadata_value) return go(Place::metadata_keys);
    if (place_ != Place::dtype) return scalar(fmt::format("\"{}\"", printable(value)));
    const auto found = std::ranges::find(kFileTypes, value, &FileType::name);
    if (found == kFileTypes.end()) {
      throw FileError(fmt::format("{}: dtype '{}', expected one of the format: F32, F16, BF16, ...", tensor_name(),
                                  printable(value)));
    }
    file_type_ = &*found;
    return go(Place::tensor);
  }

  bool start_object(std::size_t) override {
    switch (place_) {
      case Place::file: return go(Place::header);
      case Place::metadata: return go(Place::metadata_keys);
      case Place::entry:
        file_type_ = nullptr;
        dims_.reset();
        offsets_.reset();
        return go(Place::tensor);
      default: return start_nested("an object");
    }
  }

  bool start_array(std::size_t) override {
    switch (place_) {
      case Place::shape: dims_.emplace(); return go(Place::sizes);
      case Place::data_offsets: offsets_.emplace(); return go(Place::offsets);
      default: return start_nested("a list");
    }
  }

  bool key(std::string& key) override {
    switch (place_) {
      case Place::header:
        name_ = std::move(key);
        if (name_ != "__metadata__") return go(Place::entry);
        check_new(!has_metadata_, name_);
        has_metadata_ = true;
        return go(Place::metadata);
      case Place::metadata_keys: return go(Place::metadata_value);
      case Place::tensor: return tensor_key(key);
      default: return true;  // of a value that is ignored
    }
  }

  bool end_object() override {
    if (place_ == Place::tensor) {
      add_entry();
      return go(Place::header);
    }
    return place_ == Place::metadata_keys ? go(Place::header) : end_nested();
  }

  bool end_array() override {
    return place_ == Place::sizes || place_ == Place::offsets ? go(Place::tensor) : end_nested();
  }

 private:
  // What comes next: the value of a key, or keys or items of what is open.
  enum class Place {
    file,
    header,
    metadata,
    metadata_keys,
    metadata_value,
    entry,
    tensor,
    dtype,
    shape,
    sizes,
    data_offsets,
    offsets,
    ignored
  };

  bool go(Place place) {
    place_ = place;
    return true;
  }

  std::string tensor_name() const { return fmt::format("{}: tensor '{}'", file(), printable(name_)); }

  // A value that is in no place of its own: part of an unknown key, which other readers ignore too, or wrong.
  bool scalar(std::string_view found) {
    if (place_ != Place::ignored) fail(found);
    return ignored_depth_ > 0 || go(Place::tensor);
  }
  bool start_nested(std::string_view found) {
    if (place_ != Place::ignored) fail(found);
    if (++ignored_depth_ < kMaxJsonDepth) return true;
    throw FileError(fmt::format("{}: nested deeper than {} levels", tensor_name(), kMaxJsonDepth));
  }
  bool end_nested() {
    if (place_ != Place::ignored) return true;  // of the header
    return --ignored_depth_ > 0 || go(Place::tensor);
  }

  [[noreturn]] void fail(std::string_view found) const {
    const auto at = [&](std::string_view key, std::string_view expected) {
      return FileError(fmt::format("{}: {}{}, expected {}", tensor_name(), key, found, expected));
    };
    switch (place_) {
      case Place::dtype: throw at("dtype ", "a string");
      case Place::shape: throw at("shape ", "a list of sizes");
      case Place::sizes: throw at("shape with ", fmt::format("at most {} sizes from 0 to {}", kMaxFileRank, kMaxSize));
      case Place::data_offsets: throw at("data_offsets ", "a list of two offsets");
      case Place::offsets: throw at("data_offsets with ", "two offsets, a begin and an end");
      case Place::metadata:
      case Place::metadata_value:
        throw FileError(fmt::format("{}: __metadata__ with {}, expected an object of strings", file(), found));
      default: throw at("", "an object with dtype, shape and data_offsets");
    }
  }

  // `key` of what is open: the tensor, or the whole header.
  void check_new(bool is_new, std::string_view key) const {
    if (is_new) return;
    const std::string where = place_ == Place::tensor ? tensor_name() : file();
    throw FileError(fmt::format("{}: the key '{}' is there twice, expected it once", where, printable(key)));
  }

  bool tensor_key(const std::string& key) {
    if (key == "dtype") {
      check_new(file_type_ == nullptr, key);
      return go(Place::dtype);
    }
    if (key == "shape") {
      check_new(!dims_, key);
      return go(Place::shape);
    }
    if (key == "data_offsets") {
      check_new(!offsets_, key);
      return go(Place::data_offsets);
    }
    return go(Place::ignored);
  }

  // All of a tensor is there: does it agree with itself?
  void add_entry() {
    if (file_type_ == nullptr || !dims_ || !offsets_) {
      const auto* missing = file_type_ == nullptr ? "dtype" : !dims_ ? "shape" : "data_offsets";
      throw FileError(fmt::format("{}: {} is missing, expected dtype, shape and data_offsets", tensor_name(), missing));
    }
    if (offsets_->size() != 2 || offsets_->front() > offsets_->back()) {
      throw FileError(
          fmt::format("{}: data_offsets [{}], expected a begin and an end", tensor_name(), fmt::join(*offsets_, ", ")));
    }
    const std::uint64_t begin = offsets_->front(), end = offsets_->back();
    check_size(end - begin);
    SafetensorsEntry entry{std::move(name_), DataType::uint8, {static_cast<Dim>(end - begin)}, begin, end};
    if (file_type_->type && dims_->size() <= Shape::kMaxRank) {
      entry.type = *file_type_->type;
      entry.shape = Shape(std::span<const Dim>(*dims_));
    }
    entries_.push_back(std::move(entry));
  }

  void check_size(std::uint64_t bytes) const {
    const auto described = [&] { return fmt::format("{} of shape [{}]", file_type_->name, fmt::join(*dims_, ", ")); };
    auto bits = product_of_nonzero(*dims_);
    if (bits) bits = checked_multiply(*bits, file_type_->bits);
    if (!bits) throw FileError(fmt::format("{}: {}, expected fewer than 2^64 bits", tensor_name(), described()));
    if (std::ranges::find(*dims_, 0) != dims_->end()) bits = 0;
    if (*bits % 8 == 0 && *bits / 8 == bytes) return;
    const std::string size = *bits % 8 == 0 ? fmt::format("{} bytes", *bits / 8) : fmt::format("{} bits", *bits);
    throw FileError(fmt::format("{}: {} bytes at data_offsets [{}], expected {} for {}", tensor_name(), bytes,
                                fmt::join(*offsets_, ", "), size, described()));
  }

  Place place_ = Place::file;
  std::size_t ignored_depth_ = 0;
  bool has_metadata_ = false;

  // The tensor that is being read.
  std::string name_;
  const FileType* file_type_ = nullptr;
  std::optional<std::vector<Dim>> dims_;
  std::optional<std::vector<std::uint64_t>> offsets_;

  std::vector<SafetensorsEntry> entries_;
};

void check_names(std::vector<SafetensorsEntry>& entries, const std::string& file) {
  std::ranges::sort(entries, {}, &SafetensorsEntry::name);
  const auto twice = std::ranges::adjacent_find(entries, {}, &SafetensorsEntry::name);
  if (twice == entries.end()) return;
  throw FileError(fmt::format("{}: tensor '{}' is there twice, expected it once", file, printable(twice->name)));
}

void check_layout(std::vector<SafetensorsEntry>& entries, std::uint64_t data_bytes, const std::string& file) {
  std::ranges::sort(entries, {}, [](const auto& entry) { return std::tie(entry.begin, entry.end, entry.name); });
  std::uint64_t position = 0;
  for (const auto& [name, type, shape, begin, end] : entries) {
    if (begin != position) {
      throw FileError(fmt::format("{}: tensor '{}': data begins at byte {}, expected {}: no holes, no overlaps", file,
                                  printable(name), begin, position));
    }
    if (end > data_bytes) {
      throw FileError(fmt::format("{}: tensor '{}': data ends at byte {}, expected at most {}: the file is truncated",
                                  file, printable(name), end, data_bytes));
    }
    position = end;
  }
  if (position != data_bytes) {
    throw FileError(fmt::format("{}: {} bytes after the last tensor, expected none", file, data_bytes - position));
  }
}

}  // namespace

std::vector<SafetensorsEntry> read_safetensors_header(std::string_view text, std::uint64_t data_bytes,
                                                      const std::string& file) {
  if (!text.starts_with('{')) {
    throw FileError(fmt::format("{}: the header begins with '{}', expected '{{'", file, printable(text.substr(0, 8))));
  }
  HeaderReader reader(file);
  read_json_events(text, reader);
  auto entries = reader.take();
  check_names(entries, file);
  check_layout(entries, data_bytes, file);
  return entries;
}

}  // namespace encdec
