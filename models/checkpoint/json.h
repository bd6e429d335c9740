#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/engine/base/refuse.h"

namespace encdec {

// Values that a number may have, both ends included.
template <class T>
struct ValueRange {
  T min = std::numeric_limits<T>::lowest();
  T max = std::numeric_limits<T>::max();
};
using IntegerRange = ValueRange<std::int64_t>;
using NumberRange = ValueRange<double>;

// A JSON object of a file, read with types: every function throws ConfigError, naming the file, the key, what was found
// and what was expected, where a value has another type or is out of range. A key that is missing or null is absent.
//   object.integer("d_model", {.min = 1, .max = 65536}).value_or(512)
// Copies share the values.
class JsonObject {
 public:
  // Throws FileError if `value` is not an object. `file` is for messages.
  JsonObject(nlohmann::json value, const std::string& file);

  const std::string& file() const { return file_; }
  const nlohmann::json& value() const { return *value_; }
  bool has(std::string_view key) const { return find(key) != nullptr; }
  // The file and the way to this object: "tokenizer.json: normalizer.normalizers[1]".
  std::string where() const;

  std::optional<std::int64_t> integer(std::string_view key, IntegerRange range = {}) const;
  std::optional<double> number(std::string_view key, NumberRange range = {}) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> string(std::string_view key) const;
  // Messages about it name the keys that lead to it: 'decoder.d_model'.
  std::optional<JsonObject> object(std::string_view key) const;

  // The same for keys that must be there.
  std::int64_t required_integer(std::string_view key, IntegerRange range = {}) const;
  std::string required_string(std::string_view key) const { return required(string(key), key, "a string"); }
  bool required_boolean(std::string_view key) const { return required(boolean(key), key, "true or false"); }
  JsonObject required_object(std::string_view key) const { return required(object(key), key, "an object"); }
  // A list of objects.
  std::vector<JsonObject> required_objects(std::string_view key) const;

  // A list of integers, or one integer as a list of one; empty if absent.
  std::vector<std::int64_t> integers(std::string_view key, IntegerRange range = {}) const;
  // A list of lists of integers; empty if absent.
  std::vector<std::vector<std::int64_t>> integer_lists(std::string_view key, IntegerRange range = {}) const;
  // A list of strings, or one string as a list of one; empty if absent.
  std::vector<std::string> strings(std::string_view key) const;

 private:
  JsonObject(const JsonObject& parent, std::string_view key, const nlohmann::json& value);
  const nlohmann::json* find(std::string_view key) const;
  [[noreturn]] void fail(std::string_view key, const nlohmann::json& found, std::string_view expected) const;
  template <class T>
  T required(std::optional<T> found, std::string_view key, std::string_view expected) const {
    if (found) return *std::move(found);
    refuse<ConfigError>(file_, "'{}{}' is missing, expected {}", path_, key, expected);
  }
  // The value, or the items of a list, if they are as `fits` says; otherwise fails with `expected`.
  template <class T, class Fits>
  std::optional<T> read(std::string_view key, const Fits& fits, std::string_view expected) const;
  template <class T, class Fits>
  std::vector<T> read_list(std::string_view key, const nlohmann::json& found, const Fits& fits,
                           std::string_view expected) const;
  std::vector<std::int64_t> integer_list(std::string_view key, const nlohmann::json& found, IntegerRange range) const;

  std::shared_ptr<const nlohmann::json> value_;  // an object; shares the ownership of the whole file
  std::string file_;
  std::string path_;  // of keys, each followed by a dot
};

// Limits of what is read: files of checkpoints are hostile.
inline constexpr std::size_t kMaxConfigBytes = 16u << 20;  // a shard index of 100,000 tensors: some 10 MB
inline constexpr std::size_t kMaxJsonDepth = 64;
// What the values of a file may take in memory. An index of 100,000 tensors takes some 25 MB; 40,000 tokens that are
// described one by one, as in tokenizer_config.json, some 30 MB.
inline constexpr std::size_t kMaxJsonTreeBytes = 32u << 20;

// Reads a file. Throws FileError if it cannot be read, is larger than `max_bytes`, or is refused by parse_json.
nlohmann::json read_json(const std::filesystem::path& path, std::size_t max_bytes = kMaxConfigBytes);
// The same for a file whose top level is an object.
JsonObject read_json_object(const std::filesystem::path& path, std::size_t max_bytes = kMaxConfigBytes);

// Parses JSON text. Throws FileError, naming `file` and the place, for text that is not JSON (RFC 8259) in valid UTF-8,
// that has an object with a key twice, a number beyond double's range, a byte order mark, a string, number or space of
// more than 2 MiB, more than kMaxJsonDepth levels, or values that take more than kMaxJsonTreeBytes, whatever they are:
// with a text of kMaxConfigBytes, all of it stays within 4 times that.
nlohmann::json parse_json(std::string_view text, const std::string& file);

}  // namespace encdec
