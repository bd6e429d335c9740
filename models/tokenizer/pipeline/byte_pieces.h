#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace encdec {

// The piece that stands for one byte of unknown text: "<0xE2>".
std::string byte_piece(std::uint8_t byte);
// The byte that a piece like that stands for.
std::optional<std::uint8_t> piece_byte(std::string_view piece);

}  // namespace encdec
