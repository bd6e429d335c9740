#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace encdec::cli {

// Returns a token, which can contain any bytes, as text that is safe to display: one line of valid UTF-8 that cannot
// control a terminal or change the direction of other text.
// - Control characters become escapes: \n, \x1b.
// - A space becomes `space`, by default its picture, U+2423.
// - Invisible characters and bytes that are not UTF-8 become U+FFFD.
// - A dotted circle, U+25CC, is inserted before a mark at the beginning.
std::string visible(std::string_view token, std::string_view space = "␣");
// Escapes characters that have a meaning in HTML and XML.
std::string escape_markup(std::string_view valid);

// A prefix of a text: its size, and its width in a terminal.
struct Beginning {
  std::size_t bytes = 0;
  int columns = 0;
};
// Returns the longest prefix of whole grapheme clusters that is at most `columns` columns wide.
Beginning beginning_of(std::string_view valid, int columns);
// Returns the text. If it is wider than `columns` columns, truncates it and appends an ellipsis.
std::string shortened(std::string_view valid, int columns);
// Wraps the text into at most `max_lines` lines, between words if possible. The last line is shortened().
// REQUIRES: every grapheme cluster fits into `columns`.
std::vector<std::string> wrapped(std::string_view valid, int columns, std::size_t max_lines);

// A grapheme cluster and its width in a terminal.
struct Glyph {
  std::string text;
  int columns = 0;
};

// Returns the glyphs of visible(token), in at most `columns` columns. A longer token is truncated and ends with an
// ellipsis. Only the first of several joined emoji is kept, because terminals disagree on their width.
std::vector<Glyph> glyphs(std::string_view token, int columns);
// Returns at most `rows` glyphs of at most two columns each, to write from top to bottom. A longer token is truncated
// and ends with an ellipsis.
std::vector<Glyph> glyphs_downwards(std::string_view token, int rows);

}  // namespace encdec::cli
