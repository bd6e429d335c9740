#include "encdec/models/checkpoint/yaml.h"

#include <fmt/format.h>
#include <yaml.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {
namespace {

using json = nlohmann::json;

// An event of libyaml, which owns memory.
class Event {
 public:
  Event() = default;
  ~Event() { yaml_event_delete(&event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  yaml_event_t* address() { return &event_; }
  const yaml_event_t* operator->() const { return &event_; }

 private:
  yaml_event_t event_{};
};

class EventParser {
 public:
  EventParser(std::string_view text, const std::string& file) : file_(file) {
    if (yaml_parser_initialize(&parser_) == 0) throw FileError(fmt::format("{}: libyaml has no memory", file_));
    // The text may be in no other encoding: a mark at its beginning does not choose one.
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~EventParser() { yaml_parser_delete(&parser_); }
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;

  void next(Event& event) {
    if (yaml_parser_parse(&parser_, event.address()) != 0) return;
    const char* problem = parser_.problem != nullptr ? parser_.problem : "unknown problem";
    if (parser_.error == YAML_READER_ERROR) {
      throw FileError(fmt::format("{}: not valid YAML: byte {}: {}", file_, parser_.problem_offset, problem));
    }
    throw FileError(fmt::format("{}: not valid YAML: line {}: {}", file_, parser_.problem_mark.line + 1, problem));
  }

 private:
  const std::string& file_;
  yaml_parser_t parser_;
};

// [-+]?[0-9]+, 0o[0-7]+, 0x[0-9a-fA-F]+; nullopt for others and beyond 64 bits.
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

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?; nullopt for others, an infinite value beyond double's range.
std::optional<double> real(std::string_view text) {
  if (text.find_first_not_of("+-.0123456789eE") != text.npos) return std::nullopt;
  const bool has_plus = text.starts_with('+');
  if (has_plus) text.remove_prefix(1);
  const std::size_t first = !has_plus && text.starts_with('-') ? 1 : 0;
  const bool has_digit = text.size() > first && (text[first] != '.' || text.size() > first + 1) && text[first] != '+' &&
                         text[first] != '-' && text[first] != 'e' && text[first] != 'E';
  if (!has_digit) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return HUGE_VAL;
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// By the core schema of YAML 1.2, section 10.3.2.
json plain_scalar(std::string_view text, const std::string& where) {
  for (const std::string_view word : {"", "~", "null", "Null", "NULL"}) {
    if (text == word) return nullptr;
  }
  for (const std::string_view word : {"true", "True", "TRUE"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"false", "False", "FALSE"}) {
    if (text == word) return false;
  }
  if (auto value = integer(text)) return *std::move(value);
  if (const auto value = real(text)) {
    if (std::isfinite(*value)) return *value;
    throw FileError(fmt::format("{}: number '{}' beyond double's range", where, printable(text)));
  }
  return std::string(text);
}

// Builds the values of a document.
class DocumentBuilder {
 public:
  explicit DocumentBuilder(const std::string& file) : file_(file) {}

  json take() { return std::move(root_); }

  void add(const yaml_event_t& event) {
    line_ = event.start_mark.line + 1;
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        if (++documents_ > 1) fail("a second document, expected one");
        return;
      case YAML_ALIAS_EVENT: fail("an alias, expected the value itself");
      case YAML_SCALAR_EVENT: return add_scalar(event);
      case YAML_SEQUENCE_START_EVENT:
        refuse_properties(event.data.sequence_start.anchor, event.data.sequence_start.tag);
        return open(json::value_t::array);
      case YAML_MAPPING_START_EVENT:
        refuse_properties(event.data.mapping_start.anchor, event.data.mapping_start.tag);
        return open(json::value_t::object);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: open_.pop_back(); return;
      default: return;  // begin and end of the stream and of documents
    }
  }

 private:
  std::string where() const { return fmt::format("{}: line {}", file_, line_); }
  [[noreturn]] void fail(std::string_view found) const { throw FileError(fmt::format("{}: {}", where(), found)); }

  void refuse_properties(const yaml_char_t* anchor, const yaml_char_t* tag) const {
    if (anchor != nullptr) fail("an anchor, expected a plain value");
    if (tag != nullptr) fail("a tag, expected a plain value");
  }

  bool wants_key() const { return !open_.empty() && open_.back()->is_object() && member_ == nullptr; }

  void add_scalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    refuse_properties(scalar.anchor, scalar.tag);
    std::string text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    if (wants_key()) {
      const auto [position, is_new] = open_.back()->emplace(std::move(text), nullptr);
      if (!is_new) fail(fmt::format("the key '{}' is there twice, expected it once", printable(position.key())));
      member_ = &position.value();
    } else if (scalar.style == YAML_PLAIN_SCALAR_STYLE) {
      place(plain_scalar(text, where()));
    } else {
      place(std::move(text));
    }
  }

  void open(json::value_t type) {
    if (wants_key()) fail("a key of several values, expected a scalar");
    if (open_.size() == kMaxJsonDepth) fail(fmt::format("nested deeper than {} levels", kMaxJsonDepth));
    json& opened = place(type);
    open_.push_back(&opened);
  }

  json& place(json value) {
    if (open_.empty()) return root_ = std::move(value);
    if (open_.back()->is_array()) return open_.back()->emplace_back(std::move(value));
    json& member = *member_;
    member_ = nullptr;
    return member = std::move(value);
  }

  const std::string& file_;
  std::size_t line_ = 0;
  int documents_ = 0;
  json root_;
  std::vector<json*>
      open_;  // mappings and sequences, the innermost last; a parent does not change while a child is open
  json* member_ = nullptr;  // the value of the last key, until it is there
};

// Writes the keys "," that have no quotes with them.
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
  DocumentBuilder builder(file);
  for (bool more = true; more;) {
    Event event;
    parser.next(event);
    more = event->type != YAML_STREAM_END_EVENT;
    builder.add(*event.address());
  }
  return builder.take();
}

JsonObject read_yaml_object(const std::filesystem::path& path, std::size_t max_bytes) {
  return {parse_yaml(read_text_file(path, max_bytes), path.string()), path.string()};
}

}  // namespace encdec
