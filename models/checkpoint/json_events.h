#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/json.h"

namespace encdec {

// A receiver of JSON tokens, for readers that do not need all values at once. Each function handles
// a token; it returns true to continue and throws to stop. Invalid JSON throws FileError.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonEvents(std::string file) : file_(std::move(file)) {}
  bool binary(binary_t& value) final;
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& error) final;

  const std::string& file() const { return file_; }

 private:
  std::string file_;
};

// Maximum size of a string, a number, or whitespace. The parser copies each of these twice.
inline constexpr std::size_t kMaxJsonTokenBytes = 2u << 20;

// Sends the tokens of `text` to `events`. Throws as parse_json() does, except for duplicate keys,
// depth and memory, which `events` must check.
void read_json_events(std::string_view text, JsonEvents& events);

// Builds JSON values from tokens, which may also come from another format such as YAML. Throws
// FileError for a duplicate key in an object, more than kMaxJsonDepth levels, or more than
// kMaxJsonTreeBytes of memory. A derived class may handle some tokens itself.
class JsonTree : public JsonEvents {
 public:
  using JsonEvents::JsonEvents;
  JsonTree(const JsonTree&) = delete;
  JsonTree& operator=(const JsonTree&) = delete;
  using json = nlohmann::json;

  json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(json::number_integer_t value) override { return add(value); }
  bool number_unsigned(json::number_unsigned_t value) override { return add(value); }
  bool number_float(json::number_float_t value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool start_object(std::size_t) override { return open(json::value_t::object); }
  bool start_array(std::size_t) override { return open(json::value_t::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& key) override {
    if (add_key(key)) return true;
    refuse(where(), "the key '{}' is there twice, expected it once in an object", printable(key));
  }

 protected:
  // Returns the start of error messages: the file, or the file and a position in it.
  virtual std::string where() const { return file(); }

  std::size_t depth() const { return open_.size(); }
  bool in_object() const { return !open_.empty() && open_.back()->is_object(); }
  bool wants_key() const { return in_object() && member_ == nullptr; }

  // Returns false if the open object already has the key.
  bool add_key(const std::string& key) {
    take_memory(kMemberBytes + text_bytes(key));
    const auto [position, is_new] = open_.back()->emplace(key, nullptr);
    member_ = &position.value();
    return is_new;
  }
  bool add(json value) {
    insert(std::move(value));
    return true;
  }

 private:
  // Memory of values with glibc, whose malloc uses multiples of 16 bytes with 8 bytes of overhead.
  // A growing list holds its old storage and twice as much new storage: 3 values per item.
  static constexpr std::size_t kItemBytes = 3 * sizeof(json);
  static constexpr std::size_t kStructureBytes = 64;  // std::map takes 48, std::vector 24
  static constexpr std::size_t kStringBytes = 48;     // std::string takes 32
  static constexpr std::size_t kMemberBytes = 96;     // node of a std::map: header 32, key 32, value 16

  // Returns the memory of a string's characters. Short strings fit inside the std::string.
  static std::size_t text_bytes(const std::string& text) { return text.size() < 16 ? 0 : text.size() + 32; }

  static std::size_t memory_of(const json& value) {
    if (value.is_structured()) return kStructureBytes;
    return value.is_string() ? kStringBytes + text_bytes(value.get_ref<const std::string&>()) : 0;
  }

  void take_memory(std::size_t bytes) {
    if (bytes > memory_left_) {
      refuse(where(), "values that take more than {} bytes of memory, expected fewer or smaller ones",
             kMaxJsonTreeBytes);
    }
    memory_left_ -= bytes;
  }

  bool open(json::value_t type) {
    if (open_.size() == kMaxJsonDepth) refuse(where(), "nested deeper than {} levels", kMaxJsonDepth);
    open_.push_back(&insert(type));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  json& insert(json value) {
    poll_cancelled();
    take_memory(memory_of(value));
    if (open_.empty()) return root_ = std::move(value);
    if (!open_.back()->is_array()) return *std::exchange(member_, nullptr) = std::move(value);
    take_memory(kItemBytes);
    return open_.back()->emplace_back(std::move(value));
  }

  json root_;
  std::size_t memory_left_ = kMaxJsonTreeBytes;
  std::vector<json*> open_;  // innermost last; a parent does not change while a child is open
  json* member_ = nullptr;   // where the value of the last key goes; null once it is set
};

}  // namespace encdec
