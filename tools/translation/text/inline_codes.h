#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace encdec {

// A unit of a text, in bytes: letters of a word, digits of a number, a character of a script without spaces between
// words, or another character that is no space. Codes have their places between units.
struct TextUnit {
  std::size_t begin = 0, end = 0;
  bool goes_on = false;  // a cut divides a unit in front of this one

  bool operator==(const TextUnit&) const = default;
};

// Returns the units of valid UTF-8, in order. A unit that has a place of `cuts` within it is divided there.
// REQUIRES: `cuts` are in ascending order.
std::vector<TextUnit> units_of(std::string_view text, std::span<const std::size_t> cuts = {});

// Returns whether valid UTF-8 ends with a character of a script without spaces, or a punctuation mark of such a script.
bool ends_without_space(std::string_view text);

// A word of a translation: its bytes, and the unit of the source that it translates.
struct AlignedWord {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t unit = 0;
  std::vector<float> weights = {};  // the weight of each unit, from 0 to 1; may be empty
};

// A code of the source, which is in front of a unit.
struct AlignedCode {
  enum class Kind : std::uint8_t { begin, end, alone };
  Kind kind = Kind::alone;
  std::size_t unit = 0;
  bool is_whole = true;  // the sentence has both codes of the pair
  bool follows_space = false, precedes_space = false;
};

// A code of the source in a translation.
struct PlacedCode {
  std::size_t code = 0;   // index of the code in the source
  std::size_t place = 0;  // position in the translation, in bytes

  bool operator==(const PlacedCode&) const = default;
};

// Places each code of a source once in its translation, between words. Returns the codes in the order of the
// translation. Pairs stay nested as in the source.
// - A pair is put around the contiguous words with the largest sum: 1 for a word that translates a unit inside the
//   pair, -1 for any other word. If no sum is above 0, it is put around the word with most weight on these units.
// - A code without a pair, or a pair without units, is put between the words that translate the units on both sides of
//   it, else next to one of them, else in front of the word for the next unit that has one.
// - In the space between two words, a code is on the side on which it is in the source. If the source has spaces on
//   both sides of the code, it is in front of the space.
// `words` are in the order of the translation, `codes` in the order of the source.
std::vector<PlacedCode> place_codes(std::span<const AlignedWord> words, std::span<const AlignedCode> codes);

}  // namespace encdec
