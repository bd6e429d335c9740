#include "encdec/models/checkpoint/yaml.h"

#include <yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/json_events.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {
namespace {

using json = nlohmann::json;

// An event of libyaml. The destructor frees the event's memory.
struct Event : yaml_event_t {
  Event() : yaml_event_t{} {}
  ~Event() { yaml_event_delete(this); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
};

// Splits YAML text into events. Throws FileError if the text is not valid YAML.
class EventParser {
 public:
  EventParser(std::string_view text, const std::string& file) : file_(file) {
    if (yaml_parser_initialize(&parser_) == 0) refuse(file_, "libyaml has no memory");
    // Force UTF-8: a byte order mark must not choose another encoding.
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~EventParser() { yaml_parser_delete(&parser_); }
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;

  void next(Event& event) {
    if (yaml_parser_parse(&parser_, &event) != 0) return;
    const char* problem = parser_.problem != nullptr ? parser_.problem : "unknown problem";
    if (parser_.error == YAML_READER_ERROR) {
      refuse(file_, "not valid YAML: byte {}: {}", parser_.problem_offset, problem);
    }
    refuse(file_, "not valid YAML: line {}: {}", parser_.problem_mark.line + 1, problem);
  }

 private:
  const std::string& file_;
  yaml_parser_t parser_;
};

// Parses [-+]?[0-9]+, 0o[0-7]+ or 0x[0-9a-fA-F]+. Returns nullopt for other text, and for numbers of more than 64 bits.
std::optional<json> integer(std::string_view text) {
  int base = 10;
  if (text.starts_with("0o")) base = 8;
  if (text.starts_with("0x")) base = 16;
  if (base != 10) text.remove_prefix(2);
  const bool has_sign = base == 10 && (text.starts_with('-') || text.starts_with('+'));
  const std::string_view digits = has_sign ? text.substr(1) : text;
  if (digits.empty() || digits.front() == '-') return std::nullopt;
  std::uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (!has_sign || text.front() == '+') return json(magnitude);
  if (magnitude > std::uint64_t{INT64_MAX}) return std::nullopt;
  return json(-static_cast<std::int64_t>(magnitude));
}

// Parses [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?. Returns nullopt for other text, and infinity for numbers
// outside double's range.
std::optional<double> real(std::string_view text) {
  if (text.find_first_not_of("+-.0123456789eE") != text.npos) return std::nullopt;
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return HUGE_VAL;
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// Converts a plain scalar according to the core schema of YAML 1.2, section 10.3.2.
json plain_scalar(std::string_view text, const std::string& where) {
  const auto is_one_of = [text](std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, text) != words.end();
  };
  if (is_one_of({"", "~", "null", "Null", "NULL"})) return nullptr;
  if (is_one_of({"true", "True", "TRUE"})) return true;
  if (is_one_of({"false", "False", "FALSE"})) return false;
  if (auto value = integer(text)) return *std::move(value);
  if (const auto value = real(text)) {
    if (std::isfinite(*value)) return *value;
    refuse(where, "number '{}' beyond double's range", printable(text));
  }
  return std::string(text);
}

// Builds a document's values from events.
class DocumentTree final : public JsonTree {
 public:
  using JsonTree::JsonTree;

  void take_event(const yaml_event_t& event) {
    line_ = event.start_mark.line + 1;
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        if (++documents_ > 1) refuse(where(), "a second document, expected one");
        return;
      // Without "return", clang 14 would destroy the text of where() in other cases, too.
      case YAML_ALIAS_EVENT: return refuse(where(), "an alias, expected the value itself");
      case YAML_SCALAR_EVENT: return add_scalar(event);
      case YAML_SEQUENCE_START_EVENT:
        check_opened(event.data.sequence_start.anchor, event.data.sequence_start.tag);
        start_array(0);
        return;
      case YAML_MAPPING_START_EVENT:
        check_opened(event.data.mapping_start.anchor, event.data.mapping_start.tag);
        start_object(0);
        return;
      case YAML_SEQUENCE_END_EVENT: end_array(); return;
      case YAML_MAPPING_END_EVENT: end_object(); return;
      default: return;  // start or end of the stream, or end of the document
    }
  }

 private:
  std::string where() const override { return fmt::format("{}: line {}", file(), line_); }

  void refuse_properties(const yaml_char_t* anchor, const yaml_char_t* tag) const {
    if (anchor != nullptr) refuse(where(), "an anchor, expected a plain value");
    if (tag != nullptr) refuse(where(), "a tag, expected a plain value");
  }

  // Throws FileError if a list or mapping has an anchor or a tag, or is used as a key.
  void check_opened(const yaml_char_t* anchor, const yaml_char_t* tag) const {
    refuse_properties(anchor, tag);
    if (wants_key()) refuse(where(), "a key of several values, expected a scalar");
  }

  // Adds a scalar, which is a key or a value. The core schema determines the type of a plain value.
  void add_scalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    refuse_properties(scalar.anchor, scalar.tag);
    const std::string text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    if (!wants_key()) {
      add(scalar.style == YAML_PLAIN_SCALAR_STYLE ? plain_scalar(text, where()) : json(text));
    } else if (!add_key(text)) {
      refuse(where(), "the key '{}' is there twice, expected it once", printable(text));
    }
  }

  std::size_t line_ = 0;
  int documents_ = 0;
};

// Returns the text with quotes added around each unquoted key ",", which libyaml refuses.
std::string with_quoted_commas(std::string_view text) {
  constexpr std::string_view kComma = "\n,: ";
  std::string result;
  for (std::size_t found; (found = text.find(kComma)) != text.npos; text.remove_prefix(found + kComma.size())) {
    result.append(text.substr(0, found)).append("\n\",\": ");
  }
  return result.append(text);
}

}  // namespace

nlohmann::json parse_yaml(std::string_view text, const std::string& file) {
  const std::string quoted = with_quoted_commas(text);
  EventParser parser(quoted, file);
  DocumentTree tree(file);
  for (bool more = true; more;) {
    Event event;
    parser.next(event);
    more = event.type != YAML_STREAM_END_EVENT;
    tree.take_event(event);
  }
  return tree.take();
}

JsonObject read_yaml_object(const std::filesystem::path& path, std::size_t max_bytes) {
  const std::string file = path.string();
  return {parse_yaml(read_text_file(path, max_bytes), file), file};
}

}  // namespace encdec
