#include "encdec/models/tokenizer/base/utf8.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <cstdint>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

// The first character of a text. If not `is_whole`: the valid beginning of a truncated character, or one invalid byte.
struct Prefix {
  std::size_t bytes;
  bool is_whole;
};

Prefix first_prefix(std::string_view bytes) {
  // Table 3-7 of the Unicode Standard lists the valid sequences. 0xC0, 0xC1 and 0xF5 to 0xFF never begin a character.
  const auto lead = static_cast<std::uint8_t>(bytes[0]);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length <= 1) return {1, length == 1};
  // The range of the second byte excludes overlong forms, surrogates, and code points above U+10FFFF.
  const std::uint8_t lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  std::size_t found = 1;
  while (found < length && found < bytes.size()) {
    const auto byte = static_cast<std::uint8_t>(bytes[found]);
    if (found == 1 ? byte < lowest || byte > highest : !is_continuation(bytes[found])) break;
    ++found;
  }
  return {found, found == length};
}

// Returns whether Python's str.isspace() is true for `c`: a White_Space character, or a separator, U+001C to U+001F.
bool is_python_space(char32_t c) {
  return is_white_space(c) || (c >= 0x1C && c <= 0x1F);
}

}  // namespace

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  for (std::size_t offset = 0; offset < text.size();) {
    const Prefix prefix = first_prefix(text.substr(offset));
    if (!prefix.is_whole) return offset;
    offset += prefix.bytes;
  }
  return std::nullopt;
}

std::string replace_invalid_bytes(std::string_view bytes, std::string_view by) {
  std::string text;
  while (const auto offset = find_invalid_utf8(bytes)) {
    text.append(bytes.substr(0, *offset)).append(by);
    bytes.remove_prefix(*offset + 1);
  }
  return text.append(bytes);
}

std::string replace_invalid_utf8(std::string_view bytes) {
  std::string result;
  result.reserve(bytes.size());
  while (!bytes.empty()) {
    const Prefix prefix = first_prefix(bytes);
    result += prefix.is_whole ? bytes.substr(0, prefix.bytes) : "\uFFFD";
    bytes.remove_prefix(prefix.bytes);
  }
  return result;
}

void check_text(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    throw TokenizerError(fmt::format("text of {} bytes, expected at most {}", text.size(), kMaxTextBytes));
  }
  if (const auto offset = find_invalid_utf8(text)) {
    throw TokenizerError(fmt::format("text is not valid UTF-8 at byte {}", *offset));
  }
}

Character first_character(std::string_view valid) {
  const auto byte = [&](std::size_t index) { return static_cast<std::uint8_t>(valid[index]); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1F) << 6 | (byte(1) & 0x3Fu), 2};
  if (lead < 0xF0) return {(lead & 0x0F) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu), 3};
  return {(lead & 0x07) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 | (byte(3) & 0x3Fu), 4};
}

std::size_t last_character(std::string_view valid) {
  std::size_t start = valid.size() - 1;
  while (is_continuation(valid[start])) --start;
  return start;
}

void append_utf8(std::string& text, char32_t character) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(character), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

std::vector<CodePoint> code_points(std::string_view valid) {
  std::vector<CodePoint> result;
  result.reserve(valid.size());
  for (std::size_t offset = 0; offset < valid.size();) {
    const Character c = first_character(valid.substr(offset));
    result.push_back({c.value, offset});
    offset += c.bytes;
  }
  return result;
}

bool is_white_space(char32_t c) {  // as listed in Unicode's PropList.txt
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

std::string_view strip_left(std::string_view valid) {
  return valid.substr(leading_bytes(valid, is_python_space));
}

std::string_view strip_right(std::string_view valid) {
  return valid.substr(0, valid.size() - trailing_bytes(valid, is_python_space));
}

std::string_view strip(std::string_view valid) {
  return strip_left(strip_right(valid));
}

}  // namespace encdec
