#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/pipeline/pipeline_text.h"

namespace encdec {

// Character classes that the parts of tokenizers use. Each follows the version of Unicode of the part that uses it.
// See also is_white_space() in utf8.h.
bool is_letter(char32_t c);           // \p{L}
bool is_number(char32_t c);           // \p{N}
bool is_word_character(char32_t c);   // \w of UTS 18
bool is_punctuation(char32_t c);      // \p{P}, and the symbols of ASCII ("$", "+")
bool is_mark(char32_t c);             // \p{M}
bool is_nonspacing_mark(char32_t c);  // \p{Mn}
bool is_control(char32_t c);          // Cc, Cf, Co
bool is_chinese(char32_t c);          // the blocks of CJK ideographs in BERT's tokenizer

// Appends the full lowercase of `c`, whatever characters stand beside it.
void append_lowercase(std::string& text, char32_t c);
// Lowercases like Python's str.lower: full lowercase, and a final sigma (ς) at the end of a word.
std::string python_lower(std::string_view valid);

enum class NormalForm { nfc, nfd, nfkc, nfkd };
std::string normal_form(std::string_view valid, NormalForm form);
// Returns the characters of normal_form() as changes of the characters of `valid`, as tokenizers records them.
std::vector<CharacterChange> normal_form_changes(std::string_view valid, NormalForm form);

// Returns the size in bytes of the first extended grapheme cluster (Unicode TR 29).
// REQUIRES: `valid` is not empty.
std::size_t first_grapheme(std::string_view valid);

// Returns the character with which byte-level vocabularies write a byte: a printable byte is the character of the same
// number, the other bytes are U+0100, U+0101, ... in order.
std::string_view byte_character(std::uint8_t byte);
// Returns the byte that is written as `c`; negative if there is none.
int character_byte(char32_t c);

// Returns the piece for one byte of unknown text: "<0xE2>" for the byte 0xE2.
std::string byte_piece(std::uint8_t byte);
// Returns the byte of such a piece; nullopt for any other piece.
std::optional<std::uint8_t> piece_byte(std::string_view piece);

}  // namespace encdec
