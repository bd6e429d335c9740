#include "encdec/models/checkpoint/json.h"

#include <fmt/format.h>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json_events.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {
namespace {

constexpr std::size_t kMaxValueBytes = 40;    // of a value in a message
constexpr std::size_t kMaxReasonBytes = 200;  // of what the parser says

// What a message shows of a value.
std::string shown(const nlohmann::json& value) {
  if (value.is_structured()) return fmt::format("{} of {}", value.type_name(), value.size());
  if (value.is_string()) return fmt::format("\"{}\"", printable(value.get_ref<const std::string&>(), kMaxValueBytes));
  return value.dump();
}

std::string to_string(IntegerRange range) {
  constexpr IntegerRange kAll;
  if (range.min == kAll.min && range.max == kAll.max) return "an integer";
  if (range.max == kAll.max) return fmt::format("an integer of at least {}", range.min);
  if (range.min == kAll.min) return fmt::format("an integer of at most {}", range.max);
  return fmt::format("an integer from {} to {}", range.min, range.max);
}

std::string to_string(NumberRange range) {
  constexpr NumberRange kAll;
  if (range.min == kAll.min && range.max == kAll.max) return "a number";
  if (range.max == kAll.max) return fmt::format("a number of at least {}", range.min);
  if (range.min == kAll.min) return fmt::format("a number of at most {}", range.max);
  return fmt::format("a number from {} to {}", range.min, range.max);
}

bool fits(const nlohmann::json& value, IntegerRange range) {
  if (!value.is_number_integer()) return false;
  // Unsigned values above the signed range would wrap.
  const bool wraps = value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX};
  return !wraps && value.get<std::int64_t>() >= range.min && value.get<std::int64_t>() <= range.max;
}

std::string item_key(std::string_view key, std::size_t index) {
  return fmt::format("{}[{}]", key, index);
}

// Builds the values of a text.
class TreeBuilder final : public JsonEvents {
 public:
  using JsonEvents::JsonEvents;
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
    const auto [position, is_new] = open_.back()->emplace(std::move(key), nullptr);
    if (!is_new) {
      throw FileError(fmt::format("{}: the key '{}' is there twice, expected it once in an object", file(),
                                  printable(position.key())));
    }
    member_ = &position.value();
    return true;
  }

 private:
  bool add(json value) {
    place(std::move(value));
    return true;
  }

  json& place(json value) {
    if (open_.empty()) return root_ = std::move(value);
    if (open_.back()->is_object()) return *member_ = std::move(value);
    return open_.back()->emplace_back(std::move(value));
  }

  bool open(json::value_t type) {
    if (open_.size() == kMaxJsonDepth) {
      throw FileError(fmt::format("{}: nested deeper than {} levels", file(), kMaxJsonDepth));
    }
    open_.push_back(&place(type));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  json root_;
  std::vector<json*> open_;  // objects and arrays, the innermost last; a parent does not change while a child is open
  json* member_ = nullptr;   // the value of the last key
};

}  // namespace

std::string printable(std::string_view text, std::size_t limit) {
  const bool whole = text.size() <= limit;
  const nlohmann::json value(std::string(text.substr(0, limit)));
  const std::string quoted = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2) + (whole ? "" : "...");
}

JsonObject::JsonObject(nlohmann::json value, std::string file)
    : value_(std::make_shared<const nlohmann::json>(std::move(value))), file_(std::move(file)) {
  if (!value_->is_object()) throw FileError(fmt::format("{}: {}, expected a JSON object", file_, shown(*value_)));
}

JsonObject::JsonObject(const JsonObject& parent, std::string_view key, const nlohmann::json& value)
    : value_(parent.value_, &value), file_(parent.file_), path_(fmt::format("{}{}.", parent.path_, printable(key))) {
  if (!value.is_object()) parent.fail(key, value, "an object");
}

const nlohmann::json* JsonObject::find(std::string_view key) const {
  const auto found = value_->find(key);
  return found == value_->end() || found->is_null() ? nullptr : &*found;
}

void JsonObject::fail(std::string_view key, const nlohmann::json& found, std::string_view expected) const {
  throw ConfigError(fmt::format("{}: '{}{}' is {}, expected {}", file_, path_, printable(key), shown(found), expected));
}

void JsonObject::fail_missing(std::string_view key, std::string_view expected) const {
  throw ConfigError(fmt::format("{}: '{}{}' is missing, expected {}", file_, path_, key, expected));
}

std::vector<std::int64_t> JsonObject::checked_list(std::string_view key, const nlohmann::json& found,
                                                   IntegerRange range) const {
  if (!found.is_array()) fail(key, found, "a list of integers");
  std::vector<std::int64_t> values;
  values.reserve(found.size());
  for (const auto& item : found) {
    if (!fits(item, range)) fail(item_key(key, values.size()), item, to_string(range));
    values.push_back(item.get<std::int64_t>());
  }
  return values;
}

std::optional<std::int64_t> JsonObject::integer(std::string_view key, IntegerRange range) const {
  const auto* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (!fits(*found, range)) fail(key, *found, to_string(range));
  return found->get<std::int64_t>();
}

std::optional<double> JsonObject::number(std::string_view key, NumberRange range) const {
  const auto* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_number() || found->get<double>() < range.min || found->get<double>() > range.max) {
    fail(key, *found, to_string(range));
  }
  return found->get<double>();
}

std::optional<bool> JsonObject::boolean(std::string_view key) const {
  const auto* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_boolean()) fail(key, *found, "true or false");
  return found->get<bool>();
}

std::optional<std::string> JsonObject::string(std::string_view key) const {
  const auto* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_string()) fail(key, *found, "a string");
  return found->get<std::string>();
}

std::optional<JsonObject> JsonObject::object(std::string_view key) const {
  const auto* found = find(key);
  return found != nullptr ? std::optional(JsonObject(*this, key, *found)) : std::nullopt;
}

std::int64_t JsonObject::required_integer(std::string_view key, IntegerRange range) const {
  if (const auto found = integer(key, range)) return *found;
  fail_missing(key, to_string(range));
}

std::string JsonObject::required_string(std::string_view key) const {
  if (auto found = string(key)) return *std::move(found);
  fail_missing(key, "a string");
}

bool JsonObject::required_boolean(std::string_view key) const {
  if (const auto found = boolean(key)) return *found;
  fail_missing(key, "true or false");
}

JsonObject JsonObject::required_object(std::string_view key) const {
  if (auto found = object(key)) return *std::move(found);
  fail_missing(key, "an object");
}

std::vector<JsonObject> JsonObject::required_objects(std::string_view key) const {
  constexpr std::string_view kExpected = "a list of objects";
  const auto* found = find(key);
  if (found == nullptr) fail_missing(key, kExpected);
  if (!found->is_array()) fail(key, *found, kExpected);
  std::vector<JsonObject> objects;
  for (const auto& item : *found) objects.push_back(JsonObject(*this, item_key(key, objects.size()), item));
  return objects;
}

std::string JsonObject::where() const {
  return path_.empty() ? file_ : fmt::format("{}: {}", file_, std::string_view(path_).substr(0, path_.size() - 1));
}

std::vector<std::int64_t> JsonObject::integers(std::string_view key, IntegerRange range) const {
  const auto* found = find(key);
  if (found == nullptr) return {};
  if (found->is_number()) return {required_integer(key, range)};
  return checked_list(key, *found, range);
}

std::vector<std::vector<std::int64_t>> JsonObject::integer_lists(std::string_view key, IntegerRange range) const {
  const auto* found = find(key);
  if (found == nullptr) return {};
  if (!found->is_array()) fail(key, *found, "a list of lists of integers");
  std::vector<std::vector<std::int64_t>> lists;
  for (const auto& item : *found) lists.push_back(checked_list(item_key(key, lists.size()), item, range));
  return lists;
}

std::vector<std::string> JsonObject::strings(std::string_view key) const {
  const auto* found = find(key);
  if (found == nullptr) return {};
  if (found->is_string()) return {found->get<std::string>()};
  if (!found->is_array()) fail(key, *found, "a list of strings");
  std::vector<std::string> values;
  for (const auto& item : *found) {
    if (!item.is_string()) fail(item_key(key, values.size()), item, "a string");
    values.push_back(item.get<std::string>());
  }
  return values;
}

bool JsonEvents::binary(binary_t&) {
  return false;
}

bool JsonEvents::parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
  // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
  const std::string_view text = error.what();
  const std::size_t tag_end = text.find("] ");
  const std::string_view reason = tag_end == std::string_view::npos ? text : text.substr(tag_end + 2);
  throw FileError(fmt::format("{}: not valid JSON: {}", file_, printable(reason, kMaxReasonBytes)));
}

void read_json_events(std::string_view text, JsonEvents& events) {
  // The parser would take a zero byte for the end of the text, and skip a byte order mark.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    throw FileError(fmt::format("{}: not valid JSON: byte {} is zero", events.file(), zero));
  }
  if (text.starts_with("\xEF\xBB\xBF")) {
    throw FileError(fmt::format("{}: not valid JSON: begins with a byte order mark", events.file()));
  }
  nlohmann::json::sax_parse(text, &events);
}

nlohmann::json parse_json(std::string_view text, const std::string& file) {
  TreeBuilder builder(file);
  read_json_events(text, builder);
  return builder.take();
}

nlohmann::json read_json(const std::filesystem::path& path, std::size_t max_bytes) {
  return parse_json(read_text_file(path, max_bytes), path.string());
}

JsonObject read_json_object(const std::filesystem::path& path, std::size_t max_bytes) {
  return {read_json(path, max_bytes), path.string()};
}

}  // namespace encdec
