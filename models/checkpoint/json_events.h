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

// Empties a value without allocating, as deep as it is nested. Its own destructor allocates: it puts all that is inside
// into one list first, and where memory has run out that ends the program. Who owns a tree calls this before it goes.
template <class Json>
void clear_json(Json& value) noexcept {
  if (!value.is_structured()) return;
  for (Json& child : value) clear_json(child);
  value.clear();
}

// Calls it for a value in whatever way a scope is left.
class JsonClearance {
 public:
  explicit JsonClearance(nlohmann::json& value) : value_(value) {}
  ~JsonClearance() { clear_json(value_); }
  JsonClearance(const JsonClearance&) = delete;
  JsonClearance& operator=(const JsonClearance&) = delete;

 private:
  nlohmann::json& value_;
};

// Copies a value into one that outlives this call: what there is of it when memory runs out is its owner's to clear.
void copy_json(const nlohmann::json& from, nlohmann::json& to);

// For readers of JSON that do not need the whole text as values: called for one token after another. The functions
// return true to go on, and throw to stop. Errors of the text itself are thrown from here, as FileError.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonEvents(std::string file) : file_(std::move(file)) {}
  bool binary(binary_t& value) final;
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& error) final;

  const std::string& file() const { return file_; }

 private:
  std::string file_;
};

// A string, a number, or space between two tokens may be so long: the parser copies each twice.
inline constexpr std::size_t kMaxJsonTokenBytes = 2u << 20;

// Sends the tokens of `text` to `events`. Refuses what parse_json refuses, but for double keys, depth and the memory of
// values: those are the receiver's to check.
void read_json_events(std::string_view text, JsonEvents& events);

// Builds JSON values from the tokens of a text, whatever its format. Throws FileError for a key that an object has
// already, and beyond kMaxJsonDepth levels or kMaxJsonTreeBytes of memory. Who derives from it may take some of the
// tokens for itself.
class JsonTree : public JsonEvents {
 public:
  using JsonEvents::JsonEvents;
  ~JsonTree() override { clear_json(root_); }
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
  // Begins messages: the file, perhaps with a place in it.
  virtual std::string where() const { return file(); }

  // Objects and arrays that are open, and what the innermost is.
  std::size_t depth() const { return open_.size(); }
  bool in_object() const { return !open_.empty() && open_.back()->is_object(); }
  bool wants_key() const { return in_object() && member_ == nullptr; }

  // False if the object has it already.
  bool add_key(const std::string& key) {
    take_memory(kMemberBytes + text_bytes(key));
    const auto [position, is_new] = open_.back()->emplace(key, nullptr);
    member_ = &position.value();
    return is_new;
  }
  bool add(json value) {
    place(std::move(value));
    return true;
  }

 private:
  // What values take with glibc's malloc, which makes blocks of 16 bytes, 8 of them its own. A list that grows may have
  // room for twice as many values, beside those that it moves.
  static constexpr std::size_t kItemBytes = 3 * sizeof(json);
  static constexpr std::size_t kStructureBytes = 64;  // std::map 48, std::vector 24
  static constexpr std::size_t kStringBytes = 48;     // std::string 32
  static constexpr std::size_t kMemberBytes = 96;     // a node of std::map: 32, a key of 32, a value of 16

  // The characters of a string; short ones lie inside of it.
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
    open_.push_back(&place(type));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  json& place(json value) {
    poll_cancelled();
    take_memory(memory_of(value));
    if (open_.empty()) return root_ = std::move(value);
    if (!open_.back()->is_array()) return *std::exchange(member_, nullptr) = std::move(value);
    take_memory(kItemBytes);
    return open_.back()->emplace_back(std::move(value));
  }

  json root_;
  std::size_t memory_left_ = kMaxJsonTreeBytes;
  std::vector<json*> open_;  // the innermost last; a parent does not change while a child is open
  json* member_ = nullptr;   // the value of the last key, until it is there
};

}  // namespace encdec
