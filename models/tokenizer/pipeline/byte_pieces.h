#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace encdec {

// Returns the piece for one byte of unknown text: "<0xE2>" for the byte 0xE2.
std::string byte_piece(std::uint8_t byte);
// Returns the byte of such a piece; nullopt for any other piece.
std::optional<std::uint8_t> piece_byte(std::string_view piece);

}  // namespace encdec
