#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/json_parts.h"

namespace encdec {
namespace {

std::string shown(const nlohmann::json& value) {
  if (value.is_structured()) return fmt::format("{} of {}", value.type_name(), value.size());
  if (value.is_string()) return fmt::format("\"{}\"", printable(value.get_ref<const std::string&>(), 40));
  return value.dump();
}

}  // namespace

std::string JsonPart::where() const {
  return path_.empty() ? file_ : fmt::format("{}: {}", file_, path_);
}

JsonPart JsonPart::child(const nlohmann::json& value, std::string_view step) const {
  JsonPart part(value, file_);
  part.path_ = fmt::format("{}{}{}", path_, path_.empty() || step.starts_with('[') ? "" : ".", step);
  return part;
}

const nlohmann::json* JsonPart::find(std::string_view key) const {
  const auto found = value_->find(key);
  return found == value_->end() || found->is_null() ? nullptr : &*found;
}

const nlohmann::json& JsonPart::required(std::string_view key, std::string_view expected) const {
  const nlohmann::json* found = find(key);
  if (found == nullptr) fail(fmt::format("has no '{}'", key), expected);
  return *found;
}

void JsonPart::fail(std::string_view found, std::string_view expected) const {
  throw TokenizerError(fmt::format("{}: {}, expected {}", where(), found, expected));
}

void JsonPart::fail_kind(std::string_view found, std::string_view expected) const {
  fail(fmt::format("type '{}' is not supported", printable(found)), expected);
}

void JsonPart::fail_member(std::string_view key, std::string_view expected) const {
  fail(fmt::format("'{}' is {}", printable(key), shown(value_->at(std::string(key)))), expected);
}

JsonPart JsonPart::member(std::string_view key) const {
  return child(value_->at(std::string(key)), printable(key));
}

JsonPart JsonPart::object(std::string_view key) const {
  const nlohmann::json& found = required(key, "an object");
  if (!found.is_object()) fail_member(key, "an object");
  return child(found, printable(key));
}

std::vector<JsonPart> JsonPart::list(std::string_view key) const {
  const nlohmann::json& found = required(key, "a list of objects");
  if (!found.is_array()) fail_member(key, "a list of objects");
  std::vector<JsonPart> parts = child(found, key).items();
  for (const JsonPart& part : parts) {
    if (!part.value().is_object()) part.fail(shown(part.value()), "an object");
  }
  return parts;
}

std::vector<JsonPart> JsonPart::items() const {
  std::vector<JsonPart> parts;
  for (const auto& item : *value_) parts.push_back(child(item, fmt::format("[{}]", parts.size())));
  return parts;
}

std::string JsonPart::string(std::string_view key) const {
  const nlohmann::json& found = required(key, "a string");
  if (!found.is_string()) fail_member(key, "a string");
  return found.get<std::string>();
}

std::string JsonPart::character(std::string_view key) const {
  std::string found = string(key);
  if (found.empty() || first_character(found).bytes != found.size()) fail_member(key, "one character");
  return found;
}

std::uint64_t JsonPart::integer(std::string_view key, std::uint64_t most) const {
  const std::string expected = fmt::format("an integer from 0 to {}", most);
  const nlohmann::json& found = required(key, expected);
  if (!found.is_number_unsigned() || found.get<std::uint64_t>() > most) fail_member(key, expected);
  return found.get<std::uint64_t>();
}

bool JsonPart::boolean(std::string_view key) const {
  const nlohmann::json& found = required(key, "true or false");
  if (!found.is_boolean()) fail_member(key, "true or false");
  return found.get<bool>();
}

std::optional<std::string> JsonPart::optional_string(std::string_view key) const {
  return find(key) != nullptr ? std::optional(string(key)) : std::nullopt;
}

std::optional<std::uint64_t> JsonPart::optional_integer(std::string_view key, std::uint64_t most) const {
  return find(key) != nullptr ? std::optional(integer(key, most)) : std::nullopt;
}

bool JsonPart::boolean_or(std::string_view key, bool otherwise) const {
  return find(key) != nullptr ? boolean(key) : otherwise;
}

}  // namespace encdec
