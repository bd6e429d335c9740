#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace encdec::cli {

// A token as a picture may show it, whatever bytes it has: valid UTF-8 on one line, in which nothing controls a
// terminal or the direction of what stands beside it. Control characters become escapes (\n, \x1b), a space its picture
// (U+2423), what is invisible or no UTF-8 U+FFFD.
std::string visible(std::string_view token);

// What a terminal shows in one place: a grapheme cluster and its columns.
struct Glyph {
  std::string text;
  int columns = 0;
};

// The glyphs of visible(token), as far as they fit: of a longer one the last column is an ellipsis. Terminals disagree
// on the columns of emoji that are made of others: of these the first is left.
std::vector<Glyph> glyphs(std::string_view token, int columns);
// Likewise, counted in glyphs of at most two columns: they stand one below the other.
std::vector<Glyph> glyphs_downwards(std::string_view token, int rows);

}  // namespace encdec::cli
