#include "encdec/models/checkpoint/json.h"

#include <fmt/format.h>

#include <set>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {
namespace {

constexpr std::size_t kMaxShownCharacters = 40;

// What a message shows of a value; dump() is only for values without depth.
std::string shown(const nlohmann::json& value) {
  if (value.is_object() || value.is_array()) return fmt::format("{} of {}", value.type_name(), value.size());
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kMaxShownCharacters) text = text.substr(0, kMaxShownCharacters) + "...";
  return text;
}

}  // namespace

JsonObject::JsonObject(nlohmann::json value, std::string file) : value_(std::move(value)), file_(std::move(file)) {
  if (!value_.is_object()) throw FileError(fmt::format("{}: {}, expected a JSON object", file_, shown(value_)));
}

const nlohmann::json* JsonObject::find(std::string_view key) const {
  const auto found = value_.find(key);
  return found == value_.end() || found->is_null() ? nullptr : &*found;
}

void JsonObject::fail(std::string_view key, const nlohmann::json& found, std::string_view expected) const {
  throw ConfigError(fmt::format("{}: '{}' is {}, expected {}", file_, key, shown(found), expected));
}

std::int64_t JsonObject::checked(std::string_view key, const nlohmann::json& found, IntegerRange range) const {
  // Unsigned values above the signed range would wrap.
  const bool wraps = found.is_number_unsigned() &&
                     found.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!found.is_number_integer() || wraps || found.get<std::int64_t>() < range.min ||
      found.get<std::int64_t>() > range.max) {
    fail(key, found, fmt::format("an integer from {} to {}", range.min, range.max));
  }
  return found.get<std::int64_t>();
}

std::vector<std::int64_t> JsonObject::checked_list(std::string_view key, const nlohmann::json& found,
                                                   IntegerRange range) const {
  if (!found.is_array()) fail(key, found, "a list of integers");
  std::vector<std::int64_t> values;
  for (const auto& item : found) values.push_back(checked(key, item, range));
  return values;
}

std::optional<std::int64_t> JsonObject::integer(std::string_view key, IntegerRange range) const {
  const auto* found = find(key);
  return found != nullptr ? std::optional(checked(key, *found, range)) : std::nullopt;
}

std::optional<double> JsonObject::number(std::string_view key) const {
  const auto* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_number()) fail(key, *found, "a number");
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

std::string JsonObject::required_string(std::string_view key) const {
  if (auto found = string(key)) return *found;
  throw ConfigError(fmt::format("{}: '{}' is missing, expected a string", file_, key));
}

std::vector<std::int64_t> JsonObject::integers(std::string_view key, IntegerRange range) const {
  const auto* found = find(key);
  if (found == nullptr) return {};
  if (found->is_number()) return {checked(key, *found, range)};
  return checked_list(key, *found, range);
}

std::vector<std::vector<std::int64_t>> JsonObject::integer_lists(std::string_view key, IntegerRange range) const {
  const auto* found = find(key);
  if (found == nullptr) return {};
  if (!found->is_array()) fail(key, *found, "a list of lists of integers");
  std::vector<std::vector<std::int64_t>> lists;
  for (const auto& item : *found) lists.push_back(checked_list(key, item, range));
  return lists;
}

nlohmann::json parse_json(std::string_view text, const std::string& file) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto check = [&](int depth, Event event, const nlohmann::json& parsed) {
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= kMaxJsonDepth) throw FileError(fmt::format("{}: nested deeper than {} levels", file, kMaxJsonDepth));
      keys.emplace_back();
    } else if (event == Event::object_end || event == Event::array_end) {
      keys.pop_back();
    } else if (event == Event::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys.back().insert(key).second) throw FileError(fmt::format("{}: the key '{}' is there twice", file, key));
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text, check);
  } catch (const nlohmann::json::parse_error& error) {
    throw FileError(fmt::format("{}: not valid JSON at byte {}", file, error.byte));
  }
}

JsonObject read_json_object(const std::filesystem::path& path) {
  return {parse_json(read_text_file(path, kMaxJsonBytes), path.string()), path.string()};
}

}  // namespace encdec
