#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace encdec::serve {

// A word of a translation: its bytes, and the unit of the source (a token, by its number) that it stands for.
struct AlignedWord {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t unit = 0;
};

// A tag of the source: in front of a unit.
struct AlignedTag {
  enum class Kind : std::uint8_t { begin, end, alone };
  Kind kind = Kind::alone;
  std::string_view markup;
  std::size_t unit = 0;
  bool is_whole = true;  // the other tag of its element is there too; else it stands in front of the text, or behind it
};

// A translation as HTML, with each tag of its source once, in elements that are nested as they were: an element stands
// around the words in a row of which most stand for what it had in the source (the largest sum, with 1 for a word that
// does and -1 for one that does not). Tags that stand alone, and elements without a word, stand in front of the word
// for what followed them. Words are in order; tags are in the order of the source.
std::string with_tags(std::string_view text, std::span<const AlignedWord> words, std::span<const AlignedTag> tags);

}  // namespace encdec::serve
