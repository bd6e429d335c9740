#pragma once

#include <string>

#include "encdec/models/tokenizer/pipeline/piece_model.h"

namespace encdec {

// Byte-pair encoding without a list of merges, as tiktoken does it: a word that is a piece is that piece; else its
// bytes are merged pair by pair, always the two whose text together is the piece with the smallest id, of equal ones
// the leftmost. Pieces are spelled with the characters of byte-level vocabularies, see byte_character(). Throws
// TokenizerError, beginning with `name`, if a byte is no piece, or a piece has more than kMaxPieceBytes.
PieceModelPtr rank_bpe(Vocabulary vocabulary, const std::string& name);

// Bytes in the spelling of such vocabularies.
std::string byte_level_piece(std::string_view bytes);

}  // namespace encdec
