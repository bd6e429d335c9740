#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/cancellation.h"

namespace encdec {

// Returns the offset of the first invalid byte, or nullopt if `text` is valid UTF-8. Valid are whole characters in
// their shortest form, from U+0000 to U+D7FF and from U+E000 to U+10FFFF.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);
// Replaces the byte that find_invalid_utf8() finds by `by`, until the text is valid. One byte is replaced at a time.
std::string replace_invalid_bytes(std::string_view bytes, std::string_view by);
// Makes `bytes` valid UTF-8. Replaces each incomplete character, and each byte that cannot begin a character, by one
// U+FFFD.
std::string replace_invalid_utf8(std::string_view bytes);

// Maximum size of a text to tokenize. Tokenizers need about 16 bytes of memory per byte of text.
inline constexpr std::size_t kMaxTextBytes = 16u << 20;

// Throws TokenizerError if `text` has more than kMaxTextBytes, or, with the offset of the first wrong byte, if it is
// not valid UTF-8.
void check_text(std::string_view text);

// Returns whether `byte` is a continuation byte (10xxxxxx).
constexpr bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80;
}

struct Character {
  char32_t value;     // code point
  std::size_t bytes;  // length in UTF-8
};
// Returns the first character.
// REQUIRES: `valid` is valid UTF-8 and not empty.
Character first_character(std::string_view valid);
// Returns the offset of the last character.
// REQUIRES: `valid` is valid UTF-8 and not empty.
std::size_t last_character(std::string_view valid);
void append_utf8(std::string& text, char32_t character);

// A character of a text.
struct CodePoint {
  char32_t value;
  std::size_t offset;  // first byte in the text
};

// Returns the characters of valid UTF-8, in order.
std::vector<CodePoint> code_points(std::string_view valid);

// leading_bytes() counts the bytes of the longest prefix of valid UTF-8 in which `is_one(character)` is true of each
// character. trailing_bytes() does the same for a suffix.
template <typename IsOne>
std::size_t leading_bytes(std::string_view valid, const IsOne& is_one) {
  std::size_t end = 0;
  while (end < valid.size()) {
    poll_cancelled();
    const Character c = first_character(valid.substr(end));
    if (!is_one(c.value)) break;
    end += c.bytes;
  }
  return end;
}
template <typename IsOne>
std::size_t trailing_bytes(std::string_view valid, const IsOne& is_one) {
  std::size_t begin = valid.size();
  while (begin > 0) {
    const std::size_t last = last_character(valid.substr(0, begin));
    if (!is_one(first_character(valid.substr(last)).value)) break;
    begin = last;
  }
  return valid.size() - begin;
}

bool is_white_space(char32_t c);  // Unicode's property White_Space

// Remove leading or trailing whitespace: the characters that Python's str.lstrip, str.rstrip and str.strip remove.
std::string_view strip_left(std::string_view valid);
std::string_view strip_right(std::string_view valid);
std::string_view strip(std::string_view valid);

// Returns the text with the letters A to Z in lower case. Other bytes do not change.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace encdec
