#include "encdec/models/checkpoint/json.h"

#include <cmath>
#include <functional>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/checkpoint/json_events.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {
namespace {

constexpr std::size_t kMaxValueBytes = 40;    // maximum bytes of a value in an error message
constexpr std::size_t kMaxReasonBytes = 200;  // maximum bytes of the parser's message in an error message

// Returns the text for `value` in error messages.
std::string shown(const nlohmann::json& value) {
  if (value.is_structured()) return fmt::format("{} of {}", value.type_name(), value.size());
  if (value.is_string()) return fmt::format("\"{}\"", printable(value.get_ref<const std::string&>(), kMaxValueBytes));
  return value.dump();
}

// Describes a range for error messages. `what` is the kind of number, such as "an integer".
template <class T>
std::string described(ValueRange<T> range, std::string_view what) {
  constexpr ValueRange<T> kAll;
  if (range.min == kAll.min && range.max == kAll.max) return std::string(what);
  if (range.max == kAll.max) return fmt::format("{} of at least {}", what, range.min);
  if (range.min == kAll.min) return fmt::format("{} of at most {}", what, range.max);
  return fmt::format("{} from {} to {}", what, range.min, range.max);
}

bool is_in(const nlohmann::json& value, IntegerRange range) {
  if (value.is_number_float()) {  // 512.0 counts as an integer, because 512.0 == 512 in Python
    const auto number = value.get<double>();
    return number == std::trunc(number) && std::abs(number) < 0x1p53 && is_in(static_cast<std::int64_t>(number), range);
  }
  if (!value.is_number_integer()) return false;
  // get<int64_t>() would turn an unsigned value above INT64_MAX into a negative number.
  const bool wraps = value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX};
  return !wraps && value.get<std::int64_t>() >= range.min && value.get<std::int64_t>() <= range.max;
}

}  // namespace

JsonObject::JsonObject(nlohmann::json value, const std::string& file)
    : value_(std::make_shared<const nlohmann::json>(std::move(value))), file_(file) {
  if (!value_->is_object()) refuse(file_, "{}, expected a JSON object", shown(*value_));
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
  refuse<ConfigError>(file_, "'{}{}' is {}, expected {}", path_, printable(key), shown(found), expected);
}

void JsonObject::expect(std::string_view key, const nlohmann::json& expected) const {
  const auto* found = find(key);
  if (found != nullptr && *found != expected) fail(key, *found, expected.dump());
}

template <class T, class Fits>
std::optional<T> JsonObject::read(std::string_view key, const Fits& fits, std::string_view expected) const {
  const auto* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (!fits(*found)) fail(key, *found, expected);
  return found->template get<T>();
}

template <class T, class Fits>
std::vector<T> JsonObject::read_list(std::string_view key, const nlohmann::json& found, const Fits& fits,
                                     std::string_view expected) const {
  std::vector<T> values;
  values.reserve(found.size());
  for (const auto& item : found) {
    if (!fits(item)) fail(fmt::format("{}[{}]", key, values.size()), item, expected);
    values.push_back(item.template get<T>());
  }
  return values;
}

std::vector<std::int64_t> JsonObject::integer_list(std::string_view key, const nlohmann::json& found,
                                                   IntegerRange range) const {
  if (!found.is_array()) fail(key, found, "a list of integers");
  const auto fits = [range](const nlohmann::json& item) { return is_in(item, range); };
  return read_list<std::int64_t>(key, found, fits, described(range, "an integer"));
}

std::optional<std::int64_t> JsonObject::integer(std::string_view key, IntegerRange range) const {
  const auto fits = [range](const nlohmann::json& value) { return is_in(value, range); };
  return read<std::int64_t>(key, fits, described(range, "an integer"));
}

std::optional<double> JsonObject::number(std::string_view key, NumberRange range) const {
  const auto fits = [range](const nlohmann::json& value) {
    return value.is_number() && !(value.get<double>() < range.min) && !(value.get<double>() > range.max);
  };
  return read<double>(key, fits, described(range, "a number"));
}

std::optional<bool> JsonObject::boolean(std::string_view key) const {
  return read<bool>(key, std::mem_fn(&nlohmann::json::is_boolean), "true or false");
}

std::optional<std::string> JsonObject::string(std::string_view key) const {
  return read<std::string>(key, std::mem_fn(&nlohmann::json::is_string), "a string");
}

std::optional<JsonObject> JsonObject::object(std::string_view key) const {
  const auto* found = find(key);
  return found != nullptr ? std::optional(JsonObject(*this, key, *found)) : std::nullopt;
}

std::int64_t JsonObject::required_integer(std::string_view key, IntegerRange range) const {
  return required(integer(key, range), key, described(range, "an integer"));
}

std::vector<JsonObject> JsonObject::required_objects(std::string_view key) const {
  constexpr std::string_view kExpected = "a list of objects";
  const auto* found = find(key);
  required(found != nullptr ? std::optional(found) : std::nullopt, key, kExpected);
  if (!found->is_array()) fail(key, *found, kExpected);
  std::vector<JsonObject> objects;
  for (const auto& item : *found)
    objects.push_back(JsonObject(*this, fmt::format("{}[{}]", key, objects.size()), item));
  return objects;
}

std::string JsonObject::where() const {
  return path_.empty() ? file_ : fmt::format("{}: {}", file_, std::string_view(path_).substr(0, path_.size() - 1));
}

std::vector<std::int64_t> JsonObject::integers(std::string_view key, IntegerRange range) const {
  const auto* found = find(key);
  if (found == nullptr) return {};
  if (found->is_number()) return {required_integer(key, range)};
  return integer_list(key, *found, range);
}

std::vector<std::vector<std::int64_t>> JsonObject::integer_lists(std::string_view key, IntegerRange range) const {
  const auto* found = find(key);
  if (found == nullptr) return {};
  if (!found->is_array()) fail(key, *found, "a list of lists of integers");
  std::vector<std::vector<std::int64_t>> lists;
  for (const auto& item : *found) {
    lists.push_back(integer_list(fmt::format("{}[{}]", key, lists.size()), item, range));
  }
  return lists;
}

std::vector<std::string> JsonObject::strings(std::string_view key) const {
  const auto* found = find(key);
  if (found == nullptr) return {};
  if (found->is_string()) return {found->get<std::string>()};
  if (!found->is_array()) fail(key, *found, "a list of strings");
  return read_list<std::string>(key, *found, std::mem_fn(&nlohmann::json::is_string), "a string");
}

bool JsonEvents::binary(binary_t&) {
  return false;
}

bool JsonEvents::parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
  // error.what() is "[json.exception.parse_error.101] parse error at line 1 ...". Drop the tag.
  const std::string_view text = error.what();
  const std::size_t tag_end = text.find("] ");
  const std::string_view reason = tag_end == std::string_view::npos ? text : text.substr(tag_end + 2);
  refuse(file_, "not valid JSON: {}", printable(reason, kMaxReasonBytes));
}

namespace {

// Throws FileError if a token is longer than kMaxJsonTokenBytes. The parser keeps a token, and the
// whitespace before it, in buffers that grow by doubling.
void check_json_tokens(std::string_view text, const std::string& file) {
  std::size_t begin = 0;  // start of the current string, number or whitespace
  bool in_string = false;
  const auto end_at = [&](std::size_t end) {
    poll_cancelled();
    if (end - begin > kMaxJsonTokenBytes) {
      refuse(file, "a string, number or space of {} bytes at byte {}, expected at most {}", end - begin, begin,
             kMaxJsonTokenBytes);
    }
    begin = end + 1;
  };
  // A token ends at a quote or, outside strings, at a structural character.
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      in_string = !in_string;
      end_at(i);
    } else if (in_string) {
      if (c == '\\') ++i;
    } else if (c == ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}') {
      end_at(i);
    }
  }
  end_at(text.size());
}

// Returns `text` with quotes around NaN, Infinity and -Infinity. Python's json module writes these values, although
// JSON does not have them. JsonObject::number() refuses the quoted values.
std::string with_numbers_as_strings(std::string_view text) {
  std::string result;
  bool in_string = false;
  // Each step copies one character, one escape sequence of a string, or one of the three names.
  for (std::size_t i = 0, size = 0; i < text.size(); i += size) {
    size = in_string && text[i] == '\\' ? 2 : 1;
    if (text[i] == '"') in_string = !in_string;
    for (const std::string_view name : {"NaN", "Infinity", "-Infinity"}) {
      if (!in_string && text.substr(i).starts_with(name)) size = name.size();
    }
    const std::string_view part = text.substr(i, size);
    result += size > 2 ? fmt::format("\"{}\"", part) : part;
  }
  return result;
}

}  // namespace

void read_json_events(std::string_view text, JsonEvents& events) {
  // The parser would treat a NUL byte as the end of the text, and would skip a byte order mark.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    refuse(events.file(), "not valid JSON: byte {} is NUL", zero);
  }
  if (text.starts_with("\xEF\xBB\xBF")) refuse(events.file(), "not valid JSON: begins with a byte order mark");
  if (text.size() > kMaxJsonTokenBytes) check_json_tokens(text, events.file());
  nlohmann::json::sax_parse(text, &events);
}

nlohmann::json parse_json(std::string_view text, const std::string& file) {
  JsonTree tree(file);
  read_json_events(text, tree);
  return tree.take();
}

nlohmann::json read_json(const std::filesystem::path& path, std::size_t max_bytes) {
  std::string text = read_text_file(path, max_bytes);
  if (text.find("NaN") != text.npos || text.find("Infinity") != text.npos) text = with_numbers_as_strings(text);
  return parse_json(text, path.string());
}

JsonObject read_json_object(const std::filesystem::path& path, std::size_t max_bytes) {
  return {read_json(path, max_bytes), path.string()};
}

}  // namespace encdec
