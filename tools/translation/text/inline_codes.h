#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace encdec {

// The smallest range of a text that is aligned: a word, a number, a character of a script without
// spaces between words, or another character. Inline codes are placed between units.
struct TextUnit {
  std::size_t begin = 0, end = 0;
  bool continues = false;  // continues the previous unit, which was split at an entry of `cuts`

  bool operator==(const TextUnit&) const = default;
};

// Returns the units of a text, split at the offsets in `cuts` that lie within them.
// REQUIRES: `text` is valid UTF-8; `cuts` are in ascending order.
std::vector<TextUnit> units_of(std::string_view text, std::span<const std::size_t> cuts = {});

// Returns true if the last character is of a script without spaces or has East Asian width wide or
// full, as punctuation of these scripts does. REQUIRES: `text` is valid UTF-8.
bool ends_without_space(std::string_view text);

// A word of a translation, as a byte range, and the source unit that it translates.
struct AlignedWord {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t unit = 0;
  std::vector<float> weights = {};  // attention to each source unit, from 0 to 1; may be empty
};

// An inline code of the source. It lies before source unit `unit`.
struct AlignedCode {
  enum class Kind : std::uint8_t { begin, end, alone };
  Kind kind = Kind::alone;
  std::size_t unit = 0;
  bool is_whole = true;  // both codes of the pair are in this sentence
  bool follows_space = false, precedes_space = false;
};

struct PlacedCode {
  std::size_t code = 0;      // index in the source
  std::size_t position = 0;  // byte offset in the translation

  bool operator==(const PlacedCode&) const = default;
};

// Places each inline code of the source once in the translation, between words. Returns the codes in translation order,
// nested as in the source.
// - A pair surrounds the run of words with the highest score: +1 for a word that translates a unit inside the pair, -1
//   for any other word. If no score is above 0, the pair surrounds the word with the most attention to its units.
// - A single code, or a pair without units, is placed between the words that translate the units before and after it;
//   else next to one of these words; else before the word for the next unit that has a word.
// - In the space between two words, a code stays on its side of the space. A code with spaces on both sides in the
//   source is placed before the space.
// REQUIRES: `words` are in translation order, `codes` in source order.
std::vector<PlacedCode> place_codes(std::span<const AlignedWord> words, std::span<const AlignedCode> codes);

}  // namespace encdec
