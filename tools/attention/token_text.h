#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace encdec::cli {

// Returns a token, which may have any bytes, as text that is safe to show: one line of valid UTF-8 that controls
// neither a terminal nor the direction of the text beside it.
// - Control characters become escapes: \n, \x1b.
// - A space becomes `space`, by default its picture, U+2423.
// - Invisible characters and bytes that are not UTF-8 become U+FFFD.
// - A mark at the beginning gets a dotted circle, U+25CC, before it.
std::string visible(std::string_view token, std::string_view space = "␣");
// Returns `valid` as text of HTML and XML: characters with a meaning there become entities.
std::string escape_markup(std::string_view valid);

// The beginning of a text: its size, and the number of columns that it takes in a terminal.
struct Beginning {
  std::size_t bytes = 0;
  int columns = 0;
};
// Returns the longest beginning of whole grapheme clusters that takes at most `columns` columns.
Beginning beginning_of(std::string_view valid, int columns);
// Returns the text, or, if it takes more than `columns` columns, a beginning of it and an ellipsis.
std::string shortened(std::string_view valid, int columns);
// Returns the text in at most `max_lines` lines, which end between words if possible. The last line is shortened.
// REQUIRES: a grapheme cluster fits into `columns`.
std::vector<std::string> wrapped(std::string_view valid, int columns, std::size_t max_lines);

// A grapheme cluster and the number of columns that it takes in a terminal.
struct Glyph {
  std::string text;
  int columns = 0;
};

// Returns the glyphs of visible(token), in at most `columns` columns. A longer token is cut and ends with an ellipsis.
// Of an emoji joined from several emoji only the first one is kept, because terminals disagree on the width of joined
// emoji.
std::vector<Glyph> glyphs(std::string_view token, int columns);
// Returns at most `rows` glyphs of at most two columns each, to write one below the other. A longer token is cut and
// ends with an ellipsis.
std::vector<Glyph> glyphs_downwards(std::string_view token, int rows);

}  // namespace encdec::cli
