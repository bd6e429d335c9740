#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// Offset of the first byte that does not begin a whole, shortest-form character of U+0000..U+D7FF or U+E000..U+10FFFF;
// nullopt if there is none.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);
// `bytes` with `by` in place of every byte that find_invalid_utf8 finds, one after another.
std::string replace_invalid_bytes(std::string_view bytes, std::string_view by);

// Texts to tokenize: models take some 80 bytes of memory for each of their bytes.
inline constexpr std::size_t kMaxTextBytes = 16u << 20;

// Throws TokenizerError, with the offset of the first wrong byte, unless `text` is UTF-8 of at most kMaxTextBytes.
void check_text(std::string_view text);

// One character of a text: its code point and where its bytes begin.
struct CodePoint {
  char32_t value;
  std::size_t offset;
};

// The characters of valid UTF-8, in order.
std::vector<CodePoint> code_points(std::string_view valid);

// `valid` without leading (trailing) whitespace: the characters that Python's str.lstrip (str.rstrip) removes.
std::string_view strip_left(std::string_view valid);
std::string_view strip_right(std::string_view valid);

}  // namespace encdec
