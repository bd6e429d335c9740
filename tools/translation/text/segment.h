#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace encdec {

// Markup within a text, such as the inline tag <b>. It does not end a sentence.
struct InlineCode {
  std::size_t position = 0;  // byte offset in the text
  std::string markup;        // as in the file
  // Index of the other code of a pair. Unset for a single code or a partner in another text.
  std::optional<std::size_t> partner = {};

  bool operator==(const InlineCode&) const = default;
};

// A range of a text that the translation must contain once, unchanged: "%s", "{name}", a URL.
struct Placeholder {
  std::size_t begin = 0, end = 0;  // byte offsets in the text
  // The bytes of the file at this position, if they differ from the text: "%d" where the text has the number "5".
  std::optional<std::string> markup = {};

  bool operator==(const Placeholder&) const = default;
};

// A subtitle boundary within a text that several subtitles share.
struct Cut {
  std::size_t position = 0;   // byte offset where the next subtitle's text begins
  double share_before = 0.0;  // fraction of the subtitles' total time before the boundary, from 0 to 1

  bool operator==(const Cut&) const = default;
};

// A text to translate, or its translation, without its markup.
struct Segment {
  std::string text;                            // UTF-8, without markup and escapes
  std::vector<InlineCode> codes = {};          // in text order
  std::vector<Placeholder> placeholders = {};  // in order; they do not overlap
  std::vector<Cut> cuts = {};                  // in order

  bool operator==(const Segment&) const = default;
};

}  // namespace encdec
