#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace encdec::serve {

// A word of a translation: its bytes, and the unit of the source that it translates. A unit is the index of a token.
struct AlignedWord {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t unit = 0;
};

// A tag of the source, which is in front of a unit.
struct AlignedTag {
  enum class Kind : std::uint8_t { begin, end, alone };
  Kind kind = Kind::alone;
  std::string_view markup;
  std::size_t unit = 0;
  bool is_whole = true;  // the sentence has both tags of the element
};

// Writes a translation as HTML with each tag of its source once. Elements stay nested as in the source.
// - An element is put around the contiguous words with the largest sum: 1 for a word that translates a unit inside the
//   element, -1 for any other word.
// - A tag without an element, or an element without words, is put in front of the word for the unit that followed it.
// `words` are in the order of the translation, `tags` in the order of the source.
std::string with_tags(std::string_view text, std::span<const AlignedWord> words, std::span<const AlignedTag> tags);

}  // namespace encdec::serve
