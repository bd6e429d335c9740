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

// A closed range of allowed numbers.
template <class T>
struct ValueRange {
  T min = std::numeric_limits<T>::lowest();
  T max = std::numeric_limits<T>::max();
};
using IntegerRange = ValueRange<std::int64_t>;
using NumberRange = ValueRange<double>;

// A JSON object from a file, with typed access. A missing or null key counts as absent. A value of
// a wrong type or out of range throws ConfigError, naming the file and the key.
//   object.integer("d_model", {.min = 1, .max = 65536}).value_or(512)
// Copies share the values.
class JsonObject {
 public:
  // Throws FileError if `value` is not an object. `file` is the file's name in error messages.
  JsonObject(nlohmann::json value, const std::string& file);

  const std::string& file() const { return file_; }
  const nlohmann::json& value() const { return *value_; }
  bool has(std::string_view key) const { return find(key) != nullptr; }
  // Returns the file and the path of keys: "tokenizer.json: normalizer.normalizers[1]".
  std::string where() const;

  std::optional<std::int64_t> integer(std::string_view key, IntegerRange range = {}) const;
  std::optional<double> number(std::string_view key, NumberRange range = {}) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> string(std::string_view key) const;
  // Returns a nested object. Its error messages contain the full path of keys: 'decoder.d_model'.
  std::optional<JsonObject> object(std::string_view key) const;

  // Required keys: these functions also throw ConfigError if the key is absent.
  std::int64_t required_integer(std::string_view key, IntegerRange range = {}) const;
  std::string required_string(std::string_view key) const { return required(string(key), key, "a string"); }
  bool required_boolean(std::string_view key) const { return required(boolean(key), key, "true or false"); }
  JsonObject required_object(std::string_view key) const { return required(object(key), key, "an object"); }
  std::vector<JsonObject> required_objects(std::string_view key) const;

  // Return a list, which is empty if the key is absent. integers() and strings() also accept a single value.
  std::vector<std::int64_t> integers(std::string_view key, IntegerRange range = {}) const;
  std::vector<std::vector<std::int64_t>> integer_lists(std::string_view key, IntegerRange range = {}) const;
  std::vector<std::string> strings(std::string_view key) const;

  // Throws ConfigError unless the value is absent or equals `expected`.
  void expect(std::string_view key, const nlohmann::json& expected) const;

 private:
  JsonObject(const JsonObject& parent, std::string_view key, const nlohmann::json& value);
  const nlohmann::json* find(std::string_view key) const;
  [[noreturn]] void fail(std::string_view key, const nlohmann::json& found, std::string_view expected) const;
  template <class T>
  T required(std::optional<T> found, std::string_view key, std::string_view expected) const {
    if (found) return *std::move(found);
    refuse<ConfigError>(file_, "'{}{}' is missing, expected {}", path_, key, expected);
  }
  // Returns the value of `key`, or nullopt. Throws ConfigError with `expected` unless it `fits`.
  template <class T, class Fits>
  std::optional<T> read(std::string_view key, const Fits& fits, std::string_view expected) const;
  template <class T, class Fits>
  std::vector<T> read_list(std::string_view key, const nlohmann::json& found, const Fits& fits,
                           std::string_view expected) const;
  std::vector<std::int64_t> integer_list(std::string_view key, const nlohmann::json& found, IntegerRange range) const;

  std::shared_ptr<const nlohmann::json> value_;  // this object; shares ownership of the whole file
  std::string file_;
  std::string path_;  // keys that lead to this object, each followed by a dot
};

inline constexpr std::size_t kMaxConfigBytes = 16u << 20;  // a shard index of 100,000 tensors has about 10 MB
inline constexpr std::size_t kMaxJsonDepth = 64;
// Maximum memory for values. An index of 100,000 tensors takes about 25 MB; the descriptions of
// 40,000 tokens in a tokenizer_config.json about 30 MB.
inline constexpr std::size_t kMaxJsonTreeBytes = 32u << 20;

// Reads a JSON file. NaN, Infinity and -Infinity, which Python writes, become strings. Throws
// FileError if the file cannot be read, is larger than `max_bytes`, or is refused by parse_json().
nlohmann::json read_json(const std::filesystem::path& path, std::size_t max_bytes = kMaxConfigBytes);
// Reads a JSON file whose top level is an object.
JsonObject read_json_object(const std::filesystem::path& path, std::size_t max_bytes = kMaxConfigBytes);

// Parses UTF-8 JSON text (RFC 8259). A text of kMaxConfigBytes needs at most 4 times as much
// memory. Throws FileError, naming `file` and the position, for
// - text that is not valid JSON or UTF-8, or begins with a byte order mark;
// - a duplicate key in an object, or a number beyond double's range;
// - a string, number or run of spaces of more than 2 MiB;
// - more than kMaxJsonDepth levels, or values that take more than kMaxJsonTreeBytes.
nlohmann::json parse_json(std::string_view text, const std::string& file);

}  // namespace encdec
