#include "encdec/models/tokenizer/pipeline/byte_pieces.h"

#include <fmt/format.h>

#include <charconv>

namespace encdec {

std::string byte_piece(std::uint8_t byte) {
  return fmt::format("<0x{:02X}>", byte);
}

std::optional<std::uint8_t> piece_byte(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return std::nullopt;
  std::string_view digits = piece.substr(3, 2);
  if (digits[0] == '+') digits.remove_prefix(1);  // Rust accepts "<0x+A>"
  std::uint8_t byte = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole ? std::optional(byte) : std::nullopt;
}

}  // namespace encdec
