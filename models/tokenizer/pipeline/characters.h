#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {

// The classes of characters that the parts of tokenizers go by, each with the version of Unicode that the part knows;
// see also is_white_space.
bool is_letter(char32_t c);           // \p{L}
bool is_number(char32_t c);           // \p{N}
bool is_word_character(char32_t c);   // \w of UTS 18
bool is_punctuation(char32_t c);      // \p{P} and all of ASCII's
bool is_mark(char32_t c);             // \p{M}
bool is_nonspacing_mark(char32_t c);  // \p{Mn}
bool is_control(char32_t c);          // Cc, Cf, Co
bool is_chinese(char32_t c);          // blocks of CJK ideographs, as BERT counts them

// Full lowercase, apart from other characters.
void append_lowercase(std::string& text, char32_t c);

enum class NormalForm { nfc, nfd, nfkc, nfkd };
std::string normal_form(std::string_view valid, NormalForm form);

// Bytes of the first extended grapheme cluster (Unicode TR 29) of a text that is not empty.
std::size_t first_grapheme(std::string_view valid);

// The characters by which byte-level vocabularies write the bytes 0 to 255: printable ones stand for themselves, the
// others for U+0100 and up.
std::string_view byte_character(std::uint8_t byte);
// The byte that a character stands for; negative if it is none of those.
int character_byte(char32_t c);

}  // namespace encdec
