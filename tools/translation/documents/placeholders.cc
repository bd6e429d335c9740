#include <algorithm>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/translation/documents/text_file.h"
#include "encdec/translation/text/word_list.h"

namespace encdec::documents {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
constexpr std::size_t kMostPlaceholderBytes = 200, kMostTagBytes = 1000;

// Returns the length of the run of bytes at `position` that are all in `characters`.
std::size_t size_of(std::string_view text, std::size_t position, std::string_view characters) {
  return std::min(text.find_first_not_of(characters, position), text.size()) - std::min(position, text.size());
}

bool is_at(std::string_view text, std::size_t position, char c) {
  return position < text.size() && text[position] == c;
}

// Each function below returns the size of the placeholder at the beginning of `text`, or 0 if there is none.

std::size_t percent_size(std::string_view text, bool spaced) {
  std::size_t position = 1;
  if (is_at(text, position, '(')) {  // %(name)s
    const std::size_t end = text.substr(0, kMostPlaceholderBytes).find(')');
    if (end == text.npos) return 0;
    position = end + 1;
  }
  const std::size_t digits = size_of(text, position, kDigits);
  if (digits > 0 && is_at(text, position + digits, '$')) position += digits + 1;  // %1$s
  const std::size_t begin = position;
  position += size_of(text, position, spaced ? "-+ #0'I" : "-+#0'");                            // flags
  position += size_of(text, position, "*0123456789$");                                          // width
  if (is_at(text, position, '.')) position += 1 + size_of(text, position + 1, "*0123456789$");  // precision
  // gettext writes the macros of <inttypes.h> as "%<PRIu64>".
  if (text.substr(position).starts_with("<PRI")) return std::min(text.find('>', position), text.size() - 1) + 1;
  position += size_of(text, position, "hlLqjzt");  // length modifiers
  if (size_of(text.substr(0, position + 1), position, "diouxXeEfFgGaAcCsSpnmr@%") > 0) return position + 1;
  // Qt writes placeholders as %1 and %L1.
  const std::size_t number = begin + (is_at(text, begin, 'L') ? 1 : 0);
  const std::size_t number_digits = size_of(text.substr(0, number + 2), number, kDigits);
  return number_digits > 0 ? number + number_digits : 0;
}

std::size_t braces_size(std::string_view text) {
  const bool is_long = is_message(text);  // an ICU message may have several lines
  std::size_t depth = 0;
  for (std::size_t i = 0; i < (is_long ? text.size() : std::min(text.size(), kMostPlaceholderBytes)); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i + 1;
    if (text[i] == '\n' && !is_long) return 0;
  }
  return 0;
}

std::size_t dollar_size(std::string_view text) {
  if (is_at(text, 1, '{')) {
    const std::size_t size = braces_size(text.substr(1));
    return size > 0 ? size + 1 : 0;
  }
  const std::size_t name = size_of(text, 1, kNameCharacters);
  return name > 0 && kDigits.find(text[1]) == text.npos ? name + 1 : 0;
}

std::size_t bars_size(std::string_view text) {
  const std::size_t end = text.substr(0, kMostPlaceholderBytes).find('|', 1);
  return end == text.npos || end < 2 || kDigits.find(text[1]) == text.npos ? 0 : end + 1;
}

std::size_t tag_size(std::string_view text) {
  const std::size_t name = is_at(text, 1, '/') ? 2 : 1;
  const std::size_t end = text.substr(0, kMostTagBytes).find_first_of("<>", 1);
  const bool has_name = size_of(text, name, kNameCharacters) > 0 && size_of(text, name, kDigits) == 0;
  return has_name && is_at(text, end, '>') ? end + 1 : 0;
}

std::size_t entity_size(std::string_view text) {
  const std::size_t hash = is_at(text, 1, '#') ? 1 : 0, name = size_of(text, 1 + hash, kNameCharacters);
  return name > 0 && is_at(text, 1 + hash + name, ';') ? name + hash + 2 : 0;
}

std::size_t url_size(std::string_view text) {
  if (!text.starts_with("http://") && !text.starts_with("https://")) return 0;
  std::size_t size = std::min(text.find_first_of(" \t\r\n\"'<>()[]{}|\\^`"), text.size());
  while (std::string_view(".,;:!?").find(text[size - 1]) != text.npos) --size;
  return size;
}

}  // namespace

bool is_message(std::string_view text) {
  if (!text.starts_with('{')) return false;
  text = text.substr(0, kMostPlaceholderBytes);
  text.remove_prefix(std::min(text.find(','), text.size() - 1) + 1);
  const std::string kind = lower_case(text.substr(0, text.find(',')));
  return kind.size() < text.size() && has_word("choice plural select selectordinal", trim(kind));
}

std::vector<Placeholder> find_placeholders(std::string_view text, const PlaceholderSyntax& syntax) {
  std::vector<Placeholder> found;
  bool has_open = false;  // an ICU message has no end, so do not search for another one
  for (std::size_t i = 0; i < text.size();) {
    poll_cancelled();
    const std::string_view rest = text.substr(i);
    std::size_t size = 0;
    if (rest.front() == '%' && syntax.percent) size = percent_size(rest, syntax.spaced);
    if (rest.front() == '{' && syntax.braces && !(has_open && is_message(rest))) {
      size = braces_size(rest);
      has_open = has_open || (size == 0 && is_message(rest));
    }
    if (rest.front() == '$' && syntax.dollars) size = dollar_size(rest);
    if (rest.front() == '|' && syntax.bars) size = bars_size(rest);
    if (rest.front() == '<' && syntax.markup) size = tag_size(rest);
    if (rest.front() == '&' && syntax.markup) size = entity_size(rest);
    if (rest.front() == 'h') size = url_size(rest);
    if (size > 0) found.push_back({.begin = i, .end = i + size});
    i += std::max<std::size_t>(size, 1);
  }
  return found;
}

std::vector<std::string> sorted_placeholders(std::string_view text, const PlaceholderSyntax& syntax) {
  std::vector<std::string> sorted;
  for (const Placeholder& placeholder : find_placeholders(text, syntax)) {
    sorted.emplace_back(part(text, placeholder));
  }
  std::ranges::sort(sorted);
  return sorted;
}

bool add_placeholders(Segment& segment, const PlaceholderSyntax& syntax) {
  std::vector<Placeholder> added;
  for (const Placeholder& found : find_placeholders(segment.text, syntax)) {
    const auto next = std::ranges::lower_bound(segment.placeholders, found.begin + 1, {}, &Placeholder::end);
    const auto code = std::ranges::lower_bound(segment.codes, found.begin + 1, {}, &InlineCode::position);
    const bool is_free = next == segment.placeholders.end() || next->begin >= found.end;
    const bool has_code = code != segment.codes.end() && code->position < found.end;
    if (is_free && !has_code) {
      added.push_back(found);
    } else if ((is_free || next->begin > found.begin) && is_message(part(segment.text, found))) {
      return false;
    }
  }
  segment.placeholders.insert(segment.placeholders.end(), added.begin(), added.end());
  std::ranges::sort(segment.placeholders, {}, &Placeholder::begin);
  return true;
}

}  // namespace encdec::documents
