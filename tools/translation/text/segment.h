#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace encdec {

// Markup within a text, such as the tag <b>. It is part of the text and does not end a sentence.
struct InlineCode {
  std::size_t place = 0;  // position in the text, in bytes
  std::string markup;     // as it stands in the file
  // Index of the other code of a pair. Unset for a code that stands alone, or if the other code is not in the same
  // text.
  std::optional<std::size_t> partner = {};

  bool operator==(const InlineCode&) const = default;
};

// A part of a text that a translation contains once and unchanged: "%s", "{name}", a URL.
struct Placeholder {
  std::size_t begin = 0, end = 0;  // bytes of the text
  // Bytes of the file in place of this text, if they differ: "%d", where the text has the number "5".
  std::optional<std::string> markup = {};

  bool operator==(const Placeholder&) const = default;
};

// The end of one subtitle and the beginning of the next, in a text that both have.
struct Cut {
  std::size_t place = 0;      // position in the text, in bytes: where the next subtitle's text begins
  double share_before = 0.0;  // share of the time of all subtitles of the text that lies before the cut, from 0 to 1

  bool operator==(const Cut&) const = default;
};

// A text to translate, or its translation: plain text, and what is put into it.
struct Segment {
  std::string text;                            // UTF-8, without markup and escapes
  std::vector<InlineCode> codes = {};          // in the order of their places
  std::vector<Placeholder> placeholders = {};  // in order; they do not overlap
  std::vector<Cut> cuts = {};                  // in order

  bool operator==(const Segment&) const = default;
};

}  // namespace encdec
