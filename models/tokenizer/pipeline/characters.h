#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace encdec {

// The first character of valid UTF-8, which is not empty, and its bytes.
struct Character {
  char32_t value;
  std::size_t bytes;
};
Character first_character(std::string_view valid);
// Where the last character of valid UTF-8, which is not empty, begins.
std::size_t last_character(std::string_view valid);
void append_utf8(std::string& text, char32_t character);
// `bytes` as UTF-8: U+FFFD in place of each longest part that begins a character but does not end it, and of each byte
// that cannot begin one.
std::string replace_invalid_utf8(std::string_view bytes);

// The classes of characters that the parts of tokenizers go by, each with the version of Unicode that the part knows.
bool is_white_space(char32_t c);      // Unicode's property White_Space
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

// Cuts a text into extended grapheme clusters (Unicode TR 29).
class GraphemeScanner {
 public:
  explicit GraphemeScanner(std::string_view valid) : rest_(valid) {}
  // Empty at the end.
  std::string_view next();

 private:
  std::string_view rest_;
};

// The characters by which byte-level vocabularies write the bytes 0 to 255: printable ones stand for themselves, the
// others for U+0100 and up.
std::string_view byte_character(std::uint8_t byte);
// The byte that a character stands for; negative if it is none of those.
int character_byte(char32_t c);

}  // namespace encdec
