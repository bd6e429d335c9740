#include "attention/token_text.h"

#include <encdec/models/tokenizer/base/utf8.h>
#include <encdec/models/tokenizer/pipeline/characters.h>
#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <climits>

namespace encdec::cli {
namespace {

constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kNonJoiner = 0x200C, kJoiner = 0x200D;
const Glyph kEllipsis = {"…", 1};
constexpr std::string_view kDottedCircle = "◌";
constexpr std::string_view kLeftToRightMark = "\u200E";
// Maximum number of characters of a cluster, because a letter can have any number of marks.
constexpr std::size_t kMaxClusterCharacters = 8;

const utf8proc_property_t& property(char32_t c) {
  return *utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
}

// Returns true for controls, line separators, direction marks, zero-width spaces and unassigned characters, but not for
// joiners, which shape letters and emoji.
bool is_invisible(char32_t c) {
  if (c == kJoiner || c == kNonJoiner) return false;
  switch (property(c).category) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CN: return true;
    default: return false;
  }
}

// Returns true for marks and joiners, which belong to the previous letter.
bool lacks_letter(char32_t first) {
  return is_mark(first) || first == kJoiner || first == kNonJoiner;
}

// Appends one character in the form that visible() specifies.
void append_visible(std::string& text, char32_t c, std::string_view space) {
  switch (c) {
    case ' ': text += space; return;
    case '\n': text += "\\n"; return;
    case '\r': text += "\\r"; return;
    case '\t': text += "\\t"; return;
    default: break;
  }
  if (c < 0x20 || c == 0x7F) {
    text += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
  } else {
    append_utf8(text, is_invisible(c) ? kReplacement : c);
  }
}

// Returns a character's width in terminals: utf8proc's value, except where wcwidth() differs.
int columns_of(char32_t c) {
  if (c >= 0x1160 && c <= 0x11FF) return 0;  // vowels and final consonants of Hangul, part of the previous letter
  if (property(c).category == UTF8PROC_CATEGORY_MC) return 1;
  return utf8proc_charwidth(static_cast<utf8proc_int32_t>(c));
}

// Returns true for skin tones and variation selectors.
bool is_emoji_part(char32_t c) {
  return (c >= 0x1F3FB && c <= 0x1F3FF) || (c >= 0xFE00 && c <= 0xFE0F);
}

bool is_right_to_left(char32_t c) {
  const auto direction = property(c).bidi_class;
  return direction == UTF8PROC_BIDI_CLASS_R || direction == UTF8PROC_BIDI_CLASS_AL;
}

// Returns the glyph of a cluster, truncated to `max_columns`. Appends a left-to-right mark to right-to-left text, so
// that a terminal reorders only this cluster.
Glyph glyph_of(std::string_view cluster, int max_columns) {
  Glyph glyph;
  bool right_to_left = false;
  std::size_t characters = 0;
  for (const CodePoint& c : code_points(cluster)) {
    if (c.value == kJoiner || ++characters > kMaxClusterCharacters) break;
    if (is_emoji_part(c.value) && c.offset > 0) continue;
    const int columns = columns_of(c.value);
    if (glyph.columns + columns > max_columns) break;
    append_utf8(glyph.text, c.value);
    glyph.columns += columns;
    right_to_left = right_to_left || is_right_to_left(c.value);
  }
  if (right_to_left) glyph.text += kLeftToRightMark;
  return glyph;
}

std::vector<Glyph> all_glyphs(std::string_view token, int max_columns) {
  const std::string text = visible(token);
  std::vector<Glyph> result;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view cluster = rest.substr(0, first_grapheme(rest));
    result.push_back(glyph_of(cluster, max_columns));
    rest.remove_prefix(cluster.size());
  }
  return result;
}

}  // namespace

std::string visible(std::string_view token, std::string_view space) {
  const std::string valid = replace_invalid_utf8(token);
  std::string result;
  if (!valid.empty() && lacks_letter(first_character(valid).value)) result += kDottedCircle;
  for (const CodePoint& c : code_points(valid)) append_visible(result, c.value, space);
  return result;
}

std::string escape_markup(std::string_view valid) {
  std::string result;
  for (const char c : valid) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '"': result += "&quot;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      default: result += c;
    }
  }
  return result;
}

Beginning beginning_of(std::string_view valid, int columns) {
  Beginning beginning;
  while (beginning.bytes < valid.size()) {
    const std::string_view rest = valid.substr(beginning.bytes);
    const std::string_view cluster = rest.substr(0, first_grapheme(rest));
    const int width = glyph_of(cluster, INT_MAX).columns;
    if (width > columns - beginning.columns) break;
    beginning.bytes += cluster.size();
    beginning.columns += width;
  }
  return beginning;
}

std::string shortened(std::string_view valid, int columns) {
  if (beginning_of(valid, columns).bytes == valid.size()) return std::string(valid);
  return std::string(valid.substr(0, beginning_of(valid, columns - kEllipsis.columns).bytes)) + kEllipsis.text;
}

std::vector<std::string> wrapped(std::string_view valid, int columns, std::size_t max_lines) {
  std::vector<std::string> lines;
  for (std::string_view rest = valid; !rest.empty();) {
    if (lines.size() + 1 == max_lines) {
      lines.push_back(shortened(rest, columns));
      break;
    }
    // End the line after its last space, if the line has a space.
    std::size_t size = beginning_of(rest, columns).bytes;
    const std::size_t space = size < rest.size() ? rest.rfind(' ', size) : std::string_view::npos;
    if (space != std::string_view::npos) size = space + 1;
    lines.emplace_back(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  return lines;
}

std::vector<Glyph> glyphs(std::string_view token, int columns) {
  std::vector<Glyph> result = all_glyphs(token, std::max(columns, 2));
  std::size_t count = 0;
  int used = 0;
  // Keep the glyphs that fit. If some do not fit, remove glyphs until there is room for the ellipsis.
  while (count < result.size() && used + result[count].columns <= columns) used += result[count++].columns;
  if (count == result.size()) return result;
  while (count > 0 && used >= columns) used -= result[--count].columns;
  result.resize(count);
  result.push_back(kEllipsis);
  return result;
}

std::vector<Glyph> glyphs_downwards(std::string_view token, int rows) {
  std::vector<Glyph> result = all_glyphs(token, 2);
  if (result.size() <= static_cast<std::size_t>(rows)) return result;
  result.resize(static_cast<std::size_t>(rows));
  result.back() = kEllipsis;
  return result;
}

}  // namespace encdec::cli
