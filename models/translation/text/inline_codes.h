#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace encdec {

// A word of a translation: its bytes, and the unit of the source that it translates. A unit is the index of a token.
struct AlignedWord {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t unit = 0;
};

// A code of the source, which is in front of a unit.
struct AlignedCode {
  enum class Kind : std::uint8_t { begin, end, alone };
  Kind kind = Kind::alone;
  std::size_t unit = 0;
  bool is_whole = true;  // the sentence has both codes of the pair
};

// A code of the source in a translation.
struct PlacedCode {
  std::size_t code = 0;   // index of the code in the source
  std::size_t place = 0;  // position in the translation, in bytes

  bool operator==(const PlacedCode&) const = default;
};

// Places each code of a source once in its translation. Returns the codes in the order of the translation. Pairs stay
// nested as in the source.
// - A pair is put around the contiguous words with the largest sum: 1 for a word that translates a unit inside the
//   pair, -1 for any other word.
// - A code without a pair, or a pair without words, is put in front of the word for the unit that followed it.
// `words` are in the order of the translation, `codes` in the order of the source.
std::vector<PlacedCode> place_codes(std::span<const AlignedWord> words, std::span<const AlignedCode> codes);

}  // namespace encdec
