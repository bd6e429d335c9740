#include "text.h"

#include <encdec/engine/error.h>
#include <encdec/models/tokenizer/utf8.h>
#include <fmt/format.h>

#include <algorithm>

namespace encdec::cli {

void check_utf8(std::string_view line, const std::string& position) {
  const auto offset = find_invalid_utf8(line);
  if (!offset) return;
  throw InputError(fmt::format("{}: byte {} is {:#04x}, which is not UTF-8 there", position, *offset + 1,
                               static_cast<unsigned char>(line[*offset])));
}

std::string printable(std::string_view text) {
  std::string result(text);
  std::ranges::replace_if(
      result, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return result;
}

std::string as_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace encdec::cli
