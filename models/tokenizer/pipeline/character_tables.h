#pragma once

#include <span>

// Where the Unicode of utf8proc (15) is not the one that tokenizers' parts know (7 to 17).
namespace encdec::character_tables {

struct Range {
  char32_t first;
  char32_t last;
};

// Whether one of the ranges, which ascend, has the character.
bool contains(std::span<const Range> ranges, char32_t c);

// utf8proc has them in the category, but the part of tokenizers does not; and the other way round.
extern const std::span<const Range> kNotPunctuation;
extern const std::span<const Range> kMorePunctuation;
extern const std::span<const Range> kNotMarks;
extern const std::span<const Range> kMoreMarks;
extern const std::span<const Range> kNotNonspacingMarks;
extern const std::span<const Range> kMoreNonspacingMarks;
extern const std::span<const Range> kNotControl;
extern const std::span<const Range> kNotDecomposed;
extern const std::span<const Range> kMoreLetters;
extern const std::span<const Range> kMoreNumbers;
extern const std::span<const Range> kMoreWordMarks;

}  // namespace encdec::character_tables
