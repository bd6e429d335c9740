#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/cancellation.h"

namespace encdec {

// Offset of the first byte that does not begin a whole, shortest-form character of U+0000..U+D7FF or U+E000..U+10FFFF;
// nullopt if there is none.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);
// `bytes` with `by` in place of every byte that find_invalid_utf8 finds, one after another.
std::string replace_invalid_bytes(std::string_view bytes, std::string_view by);
// `bytes` as UTF-8: U+FFFD in place of each longest part that begins a character but does not end it, and of each byte
// that cannot begin one.
std::string replace_invalid_utf8(std::string_view bytes);

// Texts to tokenize: tokenizers take about 16 bytes of memory for each of their bytes.
inline constexpr std::size_t kMaxTextBytes = 16u << 20;

// Throws TokenizerError, with the offset of the first wrong byte, unless `text` is UTF-8 of at most kMaxTextBytes.
void check_text(std::string_view text);

// Whether a byte goes on with a character, which another began.
constexpr bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80;
}

// The first character of valid UTF-8, which is not empty, and its bytes.
struct Character {
  char32_t value;
  std::size_t bytes;
};
Character first_character(std::string_view valid);
// Where the last character of valid UTF-8, which is not empty, begins.
std::size_t last_character(std::string_view valid);
void append_utf8(std::string& text, char32_t character);

// One character of a text: its code point and where its bytes begin.
struct CodePoint {
  char32_t value;
  std::size_t offset;
};

// The characters of valid UTF-8, in order.
std::vector<CodePoint> code_points(std::string_view valid);

// Bytes of the characters at the beginning (at the end) of valid UTF-8 that are all `is_one(character)`.
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

// `valid` without leading (trailing) whitespace: the characters that Python's str.lstrip (str.rstrip) removes.
std::string_view strip_left(std::string_view valid);
std::string_view strip_right(std::string_view valid);
std::string_view strip(std::string_view valid);

}  // namespace encdec
