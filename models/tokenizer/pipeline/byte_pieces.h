#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/pipeline/piece_model.h"

namespace encdec {

// The piece that stands for one byte of unknown text: "<0xE2>".
std::string byte_piece(std::uint8_t byte);
// The byte that a piece like that stands for.
std::optional<std::uint8_t> piece_byte(std::string_view piece);

// Adds the ids of the byte pieces of `text`; adds nothing and gives false if the model lacks one.
bool append_byte_pieces(std::string_view text, const PieceModel& model, std::vector<std::int32_t>& ids);

}  // namespace encdec
