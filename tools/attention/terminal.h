#pragma once

#include <cstdint>
#include <string>

#include "attention/labelled_attention.h"

namespace encdec::cli {

// What a terminal can show.
struct TerminalStyle {
  enum class Colors : std::uint8_t {
    none,       // plain text
    cube,       // the 256 colours of xterm
    truecolor,  // 24 bits
  };

  Colors colors = Colors::none;
  int columns = 80;
};

enum class ColorChoice : std::uint8_t { automatic, always, never };

// What tells a program about the terminal that it writes to, if it is one.
struct TerminalFacts {
  bool is_terminal = false;
  int window_columns = 0;  // 0 where unknown
  std::string term;        // the environment variables of these names; empty where there is none
  std::string colorterm;
  std::string no_color;  // see no-color.org
  std::string columns;
};

TerminalFacts terminal_facts(int descriptor);

// automatic: colours on terminals that have them, unless NO_COLOR forbids it. always: at least 256 of them.
// The columns are those of COLUMNS, else of the window, else 80.
TerminalStyle choose_style(ColorChoice choice, const TerminalFacts& facts);

// Draws a heat map for each layer and head: keys above, queries to the left, and for each pair a cell of two columns.
// A map that is too wide goes on below, with the queries repeated. The last line tells what the colours mean: from 0 to
// the largest weight of all maps. Without colours, cells are characters of more and more ink. Throws InputError where
// weights are not from 0 to 1.
void draw_in_terminal(const LabelledAttention& attention, const TerminalStyle& style, const TextSink& write);

}  // namespace encdec::cli
