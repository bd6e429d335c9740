#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace encdec {

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
