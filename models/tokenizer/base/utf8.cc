#include "encdec/models/tokenizer/base/utf8.h"

#include <fmt/format.h>

#include <cstdint>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

// A character's bytes; 0 for a byte that cannot begin one.
std::size_t length_of(std::uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;  // a continuation, or an overlong form of ASCII
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

char32_t decode(std::string_view character) {
  char32_t value = static_cast<std::uint8_t>(character[0]);
  if (character.size() == 1) return value;
  value &= 0x7Fu >> character.size();
  for (const char byte : character.substr(1)) value = value << 6 | (static_cast<std::uint8_t>(byte) & 0x3Fu);
  return value;
}

// Bytes of the valid character at the start of `text`; 0 if there is none.
std::size_t valid_length(std::string_view text) {
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const std::size_t length = length_of(static_cast<std::uint8_t>(text[0]));
  if (length == 0 || length > text.size()) return 0;
  for (const char byte : text.substr(1, length - 1)) {
    if ((static_cast<std::uint8_t>(byte) & 0xC0u) != 0x80) return 0;
  }
  const char32_t value = decode(text.substr(0, length));
  const bool surrogate = value >= 0xD800 && value < 0xE000;
  return value < kSmallest[length] || surrogate || value > 0x10FFFF ? 0 : length;
}

bool is_whitespace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

}  // namespace

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t length = valid_length(text.substr(offset));
    if (length == 0) return offset;
    offset += length;
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

void check_text(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    throw TokenizerError(fmt::format("text of {} bytes, expected at most {}", text.size(), kMaxTextBytes));
  }
  if (const auto offset = find_invalid_utf8(text)) {
    throw TokenizerError(fmt::format("text is not valid UTF-8 at byte {}", *offset));
  }
}

std::vector<CodePoint> code_points(std::string_view valid) {
  std::vector<CodePoint> result;
  result.reserve(valid.size());
  for (std::size_t offset = 0; offset < valid.size();) {
    const std::size_t length = length_of(static_cast<std::uint8_t>(valid[offset]));
    result.push_back({decode(valid.substr(offset, length)), offset});
    offset += length;
  }
  return result;
}

std::string_view strip_left(std::string_view valid) {
  while (!valid.empty()) {
    const std::size_t length = length_of(static_cast<std::uint8_t>(valid[0]));
    if (!is_whitespace(decode(valid.substr(0, length)))) break;
    valid.remove_prefix(length);
  }
  return valid;
}

std::string_view strip_right(std::string_view valid) {
  while (!valid.empty()) {
    std::size_t start = valid.size() - 1;
    while ((static_cast<std::uint8_t>(valid[start]) & 0xC0u) == 0x80) --start;
    if (!is_whitespace(decode(valid.substr(start)))) break;
    valid.remove_suffix(valid.size() - start);
  }
  return valid;
}

}  // namespace encdec
