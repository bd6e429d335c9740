#pragma once

#include <string>

#include "encdec/models/tokenizer/pipeline/piece_model.h"

namespace encdec {

// Creates a byte-pair encoding without a list of merges, like tiktoken's. A word that is a piece stays whole. The bytes
// of any other word are merged pair by pair: always the pair whose joined text is the piece with the smallest id, and
// the leftmost of equal pairs. Pieces are written with the characters of byte-level vocabularies, see byte_character().
// Throws TokenizerError, beginning with `name`, if a byte has no piece or a piece has more than kMaxPieceBytes.
PieceModelPtr rank_bpe(Vocabulary vocabulary, const std::string& name);

// Returns the bytes as a byte-level vocabulary writes them.
std::string byte_level_piece(std::string_view bytes);

}  // namespace encdec
