#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/cancellation.h"

namespace encdec {

// Returns the offset of the first invalid byte, or nullopt if `text` is valid UTF-8. As in the standard, surrogates,
// overlong forms and code points above U+10FFFF are invalid.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);
// Replaces each invalid byte, as defined by find_invalid_utf8(), with one copy of `by`.
std::string replace_invalid_bytes(std::string_view bytes, std::string_view by);
// Replaces each truncated character, and each byte that cannot begin a character, with one U+FFFD.
std::string replace_invalid_utf8(std::string_view bytes);

// Maximum size of a text to tokenize. Tokenizing needs about 16 bytes of memory per byte of text.
inline constexpr std::size_t kMaxTextBytes = 16u << 20;

// Throws TokenizerError if `text` has more than kMaxTextBytes or is not valid UTF-8. The latter message contains the
// offset of the first invalid byte.
void check_text(std::string_view text);

// Returns whether `byte` continues a character (10xxxxxx).
constexpr bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80;
}

struct Character {
  char32_t value;     // code point
  std::size_t bytes;  // length in UTF-8
};
// Return the first character, and the offset of the last character.
Character first_character(std::string_view valid);
std::size_t last_character(std::string_view valid);
void append_utf8(std::string& text, char32_t character);

struct CodePoint {
  char32_t value;
  std::size_t offset;  // offset of the first byte in the text
};

// Returns the code points of valid UTF-8, in order.
std::vector<CodePoint> code_points(std::string_view valid);

// leading_bytes() returns the size of the longest prefix of valid UTF-8 in which `is_one` is true for every character.
// trailing_bytes() returns the size of the longest such suffix.
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

// Remove the whitespace that Python's str.lstrip, str.rstrip and str.strip remove.
std::string_view strip_left(std::string_view valid);
std::string_view strip_right(std::string_view valid);
std::string_view strip(std::string_view valid);

// Lowercases the letters A to Z only.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace encdec
