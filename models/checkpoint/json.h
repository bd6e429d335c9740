#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// Values that a number may have, both ends included.
struct IntegerRange {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

// A JSON object of a file, read with types: every function throws ConfigError, naming the file, the key, what was found
// and what was expected, where a value has another type or is out of range. A key that is missing or null is absent.
class JsonObject {
 public:
  JsonObject(nlohmann::json value, std::string file);

  const std::string& file() const { return file_; }
  const nlohmann::json& value() const { return value_; }
  bool has(std::string_view key) const { return find(key) != nullptr; }

  std::optional<std::int64_t> integer(std::string_view key, IntegerRange range = {}) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> string(std::string_view key) const;
  std::string required_string(std::string_view key) const;
  // A list of integers, or one integer as a list of one; empty if absent.
  std::vector<std::int64_t> integers(std::string_view key, IntegerRange range = {}) const;
  // A list of lists of integers; empty if absent.
  std::vector<std::vector<std::int64_t>> integer_lists(std::string_view key, IntegerRange range = {}) const;

 private:
  const nlohmann::json* find(std::string_view key) const;
  [[noreturn]] void fail(std::string_view key, const nlohmann::json& found, std::string_view expected) const;
  std::int64_t checked(std::string_view key, const nlohmann::json& found, IntegerRange range) const;
  std::vector<std::int64_t> checked_list(std::string_view key, const nlohmann::json& found, IntegerRange range) const;

  nlohmann::json value_;
  std::string file_;
};

// Limits of what is read: files of checkpoints are hostile.
inline constexpr std::size_t kMaxJsonBytes = 256u << 20;  // tokenizer.json of large vocabularies: some 30 MB
inline constexpr int kMaxJsonDepth = 64;

// Parses JSON text. Throws FileError, naming `file`, for text that is not JSON in valid UTF-8, for an object that has a
// key twice, and for nesting deeper than kMaxJsonDepth.
nlohmann::json parse_json(std::string_view text, const std::string& file);

// Reads a file whose top level is an object. Throws FileError if it cannot be read or is not that.
JsonObject read_json_object(const std::filesystem::path& path);

}  // namespace encdec
