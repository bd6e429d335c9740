#include "encdec/models/checkpoint/safetensors.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/checkpoint/byte_reader.h"
#include "encdec/models/checkpoint/checkpoint_format.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/json_events.h"
#include "encdec/models/checkpoint/shards.h"
#include "encdec/models/checkpoint/tensor_layout.h"

namespace encdec {
namespace {

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxFileRank = 32;  // limit of NumPy 1
// Large checkpoints have about 100,000 tensors in a hundred files. A hostile header can describe a tensor in 50 bytes,
// but each tensor takes about 500 bytes of memory.
constexpr std::size_t kMaxHeaderEntries = 1u << 18;

// A tensor in the header. Its data are the bytes [begin, end) after the header.
struct HeaderEntry {
  std::string name;
  const StoredType* type = nullptr;
  std::vector<std::uint64_t> sizes;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// A state machine that receives the header's tokens. `expected_` is the token that is expected next. Example:
// {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
class HeaderReader final : public JsonEvents {
 public:
  using JsonEvents::JsonEvents;
  using json = nlohmann::json;

  std::vector<HeaderEntry> take() { return std::move(entries_); }

  bool null() override { return expected_ == Expected::metadata ? go(Expected::header) : scalar("null"); }
  bool boolean(bool value) override { return scalar(value ? "true" : "false"); }
  bool number_integer(json::number_integer_t value) override { return scalar(std::to_string(value)); }
  bool number_float(json::number_float_t, const std::string& text) override { return scalar(printable(text)); }

  bool number_unsigned(json::number_unsigned_t value) override {
    if (expected_ == Expected::sizes && value <= kMaxTensorElements && tensor_.sizes->size() < kMaxFileRank) {
      tensor_.sizes->push_back(value);
      return true;
    }
    if (expected_ == Expected::offsets && tensor_.offsets->size() < 2) {
      tensor_.offsets->push_back(value);
      return true;
    }
    return scalar(std::to_string(value));
  }

  bool string(std::string& value) override {
    if (expected_ == Expected::metadata_value) return go(Expected::metadata_keys);
    if (expected_ != Expected::dtype) return scalar(fmt::format("\"{}\"", printable(value)));
    tensor_.type = stored_type(&StoredType::safetensors, value);
    if (tensor_.type == nullptr) {
      refuse(tensor_name(), "dtype '{}', expected one of the format: F32, F16, BF16, ...", printable(value));
    }
    return go(Expected::tensor);
  }

  bool start_object(std::size_t) override {
    switch (expected_) {
      case Expected::file: return go(Expected::header);
      case Expected::metadata: return go(Expected::metadata_keys);
      case Expected::entry: tensor_ = {}; return go(Expected::tensor);
      default: return start_nested("an object");
    }
  }

  bool start_array(std::size_t) override {
    switch (expected_) {
      case Expected::shape: tensor_.sizes.emplace(); return go(Expected::sizes);
      case Expected::data_offsets: tensor_.offsets.emplace(); return go(Expected::offsets);
      default: return start_nested("a list");
    }
  }

  bool key(std::string& key) override {
    poll_cancelled();
    switch (expected_) {
      case Expected::header:
        name_ = std::move(key);
        if (name_ != "__metadata__") return go(Expected::entry);
        check_new(!has_metadata_, name_);
        has_metadata_ = true;
        return go(Expected::metadata);
      case Expected::metadata_keys: return go(Expected::metadata_value);
      case Expected::tensor: return tensor_key(key);
      default: return true;  // this key belongs to an ignored value
    }
  }

  bool end_object() override {
    if (expected_ == Expected::tensor) {
      add_entry();
      return go(Expected::header);
    }
    return expected_ == Expected::metadata_keys ? go(Expected::header) : end_nested();
  }

  bool end_array() override {
    return expected_ == Expected::sizes || expected_ == Expected::offsets ? go(Expected::tensor) : end_nested();
  }

 private:
  // The next expected token: a key's value (dtype), an open object's key (tensor), or an open list's item (sizes).
  enum class Expected {
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

  // Enters a state. Returns true, so that event functions can return the result.
  bool go(Expected next) {
    expected_ = next;
    return true;
  }

  std::string tensor_name() const { return fmt::format("{}: tensor '{}'", file(), printable(name_)); }

  // The functions below handle values that the functions above do not expect. Values of unknown keys are ignored, as in
  // other readers. All other values are errors.
  bool scalar(std::string_view found) {
    if (expected_ != Expected::ignored) fail(found);
    return ignored_depth_ > 0 || go(Expected::tensor);
  }
  bool start_nested(std::string_view found) {
    if (expected_ != Expected::ignored) fail(found);
    if (++ignored_depth_ < kMaxJsonDepth) return true;
    refuse(tensor_name(), "nested deeper than {} levels", kMaxJsonDepth);
  }
  bool end_nested() {
    if (expected_ != Expected::ignored) return true;  // the end of the header's object
    return --ignored_depth_ > 0 || go(Expected::tensor);
  }

  // Throws FileError for a token that the current state does not allow.
  [[noreturn]] void fail(std::string_view found) const {
    const std::string tensor = tensor_name();
    switch (expected_) {
      case Expected::dtype: refuse(tensor, "dtype {}, expected a string", found);
      case Expected::shape: refuse(tensor, "shape {}, expected a list of sizes", found);
      case Expected::sizes:
        refuse(tensor, "shape with {}, expected at most {} sizes from 0 to {}", found, kMaxFileRank,
               kMaxTensorElements);
      case Expected::data_offsets: refuse(tensor, "data_offsets {}, expected a list of two offsets", found);
      case Expected::offsets: refuse(tensor, "data_offsets with {}, expected two offsets, a begin and an end", found);
      case Expected::metadata:
      case Expected::metadata_value: refuse(file(), "__metadata__ with {}, expected an object of strings", found);
      default: refuse(tensor, "{}, expected an object with dtype, shape and data_offsets", found);
    }
  }

  // Throws FileError unless `is_new`. A key may occur only once in a tensor, and only once in the header.
  void check_new(bool is_new, std::string_view key) const {
    if (is_new) return;
    const std::string where = expected_ == Expected::tensor ? tensor_name() : file();
    refuse(where, "the key '{}' is there twice, expected it once", printable(key));
  }

  bool tensor_key(const std::string& key) {
    Expected next = Expected::ignored;
    if (key == "dtype") next = Expected::dtype;
    if (key == "shape") next = Expected::shape;
    if (key == "data_offsets") next = Expected::data_offsets;
    check_new(next != Expected::dtype || tensor_.type == nullptr, key);
    check_new(next != Expected::shape || !tensor_.sizes, key);
    check_new(next != Expected::data_offsets || !tensor_.offsets, key);
    return go(next);
  }

  void add_entry() {
    const auto& [type, sizes, offsets] = tensor_;
    if (type == nullptr || !sizes || !offsets) {
      const auto* missing = type == nullptr ? "dtype" : !sizes ? "shape" : "data_offsets";
      refuse(tensor_name(), "{} is missing, expected dtype, shape and data_offsets", missing);
    }
    if (offsets->size() != 2 || offsets->front() > offsets->back()) {
      refuse(tensor_name(), "data_offsets [{}], expected a begin and an end", fmt::join(*offsets, ", "));
    }
    const std::uint64_t begin = offsets->front(), end = offsets->back();
    check_size(end - begin);
    if (entries_.size() == kMaxHeaderEntries) refuse(file(), "more than {} tensors", kMaxHeaderEntries);
    entries_.push_back({std::move(name_), type, *sizes, begin, end});
  }

  // Throws FileError unless the type and sizes in `tensor_` make a tensor of `bytes` bytes.
  void check_size(std::uint64_t bytes) const {
    std::vector<std::uint64_t> nonzero = *tensor_.sizes;  // even if a size is 0, the other sizes must not overflow
    std::erase(nonzero, 0u);
    const auto bits = stored_bits(*tensor_.type, nonzero) ? stored_bits(*tensor_.type, *tensor_.sizes) : std::nullopt;
    if (bits && *bits % 8 == 0 && *bits / 8 == bytes) return;
    const std::string described =
        fmt::format("{} of shape [{}]", tensor_.type->safetensors, fmt::join(*tensor_.sizes, ", "));
    if (!bits) refuse(tensor_name(), "{}, expected fewer than 2^64 bits", described);
    const std::string size = *bits % 8 == 0 ? fmt::format("{} bytes", *bits / 8) : fmt::format("{} bits", *bits);
    refuse(tensor_name(), "{} bytes at data_offsets [{}], expected {} for {}", bytes, fmt::join(*tensor_.offsets, ", "),
           size, described);
  }

  struct Description {
    const StoredType* type = nullptr;
    std::optional<std::vector<std::uint64_t>> sizes;
    std::optional<std::vector<std::uint64_t>> offsets;
  };

  Expected expected_ = Expected::file;
  std::size_t ignored_depth_ = 0;
  bool has_metadata_ = false;
  std::string name_;
  Description tensor_;
  std::vector<HeaderEntry> entries_;
};

void check_header_names(std::vector<HeaderEntry>& entries, const std::string& file) {
  std::ranges::sort(entries, {}, &HeaderEntry::name);
  const auto twice = std::ranges::adjacent_find(entries, {}, &HeaderEntry::name);
  if (twice != entries.end()) refuse(file, "tensor '{}' is there twice, expected it once", printable(twice->name));
}

// Throws FileError unless the entries fill the data exactly, without gaps or overlaps.
void check_layout(std::vector<HeaderEntry>& entries, std::uint64_t data_bytes, const std::string& file) {
  std::ranges::sort(entries, {}, [](const auto& entry) { return std::tie(entry.begin, entry.end, entry.name); });
  std::uint64_t position = 0;
  for (const HeaderEntry& entry : entries) {
    if (entry.begin != position) {
      refuse(file, "tensor '{}': data begins at byte {}, expected {}: no holes, no overlaps", printable(entry.name),
             entry.begin, position);
    }
    if (entry.end > data_bytes) {
      refuse(file, "tensor '{}': data ends at byte {}, expected at most {}: the file is truncated",
             printable(entry.name), entry.end, data_bytes);
    }
    position = entry.end;
  }
  if (position != data_bytes) refuse(file, "{} bytes after the last tensor, expected none", data_bytes - position);
}

// Reads the length of the header, then the header. Returns the header's text.
std::string_view take_header(ByteReader& reader, std::size_t file_bytes) {
  if (reader.left() < kLengthBytes) {
    refuse(reader.file(), "{} bytes, expected a header of at least {}", reader.left(), kLengthBytes);
  }
  const auto length = reader.number<std::uint64_t>("the header's length");
  const auto limit = std::min<std::uint64_t>(kMaxHeaderBytes, reader.left());
  if (length > limit) {
    refuse(reader.file(), "a header of {} bytes, expected at most {} in a file of {}", length, limit, file_bytes);
  }
  const std::string_view text = as_text(reader.take(length, "the header"));
  if (!text.starts_with('{')) {
    refuse(reader.file(), "the header begins with '{}', expected '{{'", printable(text.substr(0, 8)));
  }
  return text;
}

}  // namespace

std::shared_ptr<WeightStore> parse_safetensors(const FileBytes& file) {
  refuse_git_lfs_pointer(file.bytes, file.name);
  ByteReader reader(file.bytes, file.name);
  HeaderReader header(file.name);
  read_json_events(take_header(reader, file.bytes.size()), header);
  const auto data = file.bytes.subspan(reader.position());
  auto entries = header.take();
  check_header_names(entries, file.name);
  check_layout(entries, data.size(), file.name);
  auto store = std::make_shared<WeightStore>(file.name);
  for (auto& [name, type, sizes, begin, end] : entries) {
    const auto bytes = data.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    store->add(std::move(name), stored_tensor(bytes, *type, {.sizes = sizes}, file.owner));
  }
  return store;
}

std::shared_ptr<const WeightStore> read_safetensors(const std::filesystem::path& folder_or_file) {
  return read_weights(find_weights(folder_or_file, "model.safetensors"), parse_safetensors);
}

FormatRow safetensors_format() {
  return {.format = CheckpointFormat::safetensors,
          .files = "model.safetensors",
          .find = [](const CheckpointFolder& folder) { return folder.with_weights("model.safetensors"); },
          .open = [](const std::filesystem::path& folder,
                     Checkpoint& checkpoint) { checkpoint.weights = read_safetensors(folder); }};
}

}  // namespace encdec
