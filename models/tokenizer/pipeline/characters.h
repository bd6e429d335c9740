#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/pipeline/pipeline_text.h"

namespace encdec {

// Character classes of Hugging Face's tokenizers, each with the version of Unicode of the component that uses it.
bool is_letter(char32_t c);           // \p{L}
bool is_number(char32_t c);           // \p{N}
bool is_word_character(char32_t c);   // \w of UTS 18
bool is_punctuation(char32_t c);      // \p{P}, and the symbols of ASCII ("$", "+")
bool is_mark(char32_t c);             // \p{M}
bool is_nonspacing_mark(char32_t c);  // \p{Mn}
bool is_control(char32_t c);          // Cc, Cf, Co
bool is_chinese(char32_t c);          // the blocks of CJK ideographs in BERT's tokenizer

// Appends the full lowercase of `c`, regardless of its neighbours.
void append_lowercase(std::string& text, char32_t c);
// Lowercases like Python's str.lower: full lowercase, with a final sigma (ς) at the end of a word.
std::string python_lower(std::string_view valid);

enum class NormalForm { nfc, nfd, nfkc, nfkd };
std::string normal_form(std::string_view valid, NormalForm form);
// Returns normal_form() as changes to the characters of `valid`, counted like tokenizers.
std::vector<CharacterChange> normal_form_changes(std::string_view valid, NormalForm form);

// Returns the bytes of the first extended grapheme cluster (Unicode TR 29).
// REQUIRES: `valid` is not empty.
std::size_t first_grapheme(std::string_view valid);

// Returns the character that represents a byte in byte-level vocabularies (GPT-2's bytes_to_unicode). A printable byte
// has the character with the same code; the other bytes have U+0100, U+0101, ... in order.
std::string_view byte_character(std::uint8_t byte);
// Returns the byte that `c` represents, or a negative number if there is no such byte.
int character_byte(char32_t c);

// Returns the token for one byte of unknown text: "<0xE2>" for the byte 0xE2.
std::string byte_piece(std::uint8_t byte);
// Returns the byte of such a token; nullopt for any other token.
std::optional<std::uint8_t> piece_byte(std::string_view piece);

}  // namespace encdec
