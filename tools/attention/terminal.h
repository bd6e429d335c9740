#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "attention/labelled_attention.h"

namespace encdec::cli {

// Colours and width of a terminal.
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

// Facts about an output and the environment, from which choose_style() chooses colours and width.
struct TerminalFacts {
  bool is_terminal = false;
  int window_columns = 0;  // 0 if unknown
  std::string term;        // environment variables: TERM, COLORTERM, NO_COLOR, COLUMNS; empty if unset
  std::string colorterm;
  std::string no_color;  // see no-color.org
  std::string columns;
};

TerminalFacts terminal_facts(int descriptor);

// Returns the colours and width to use.
// Colours: ColorChoice::automatic uses those of the terminal, and none if NO_COLOR is set; always uses at least 256.
// Width: COLUMNS, else the width of the window, else 80.
TerminalStyle choose_style(ColorChoice choice, const TerminalFacts& facts);

// A callback that receives the text of a picture, piece by piece.
using TextSink = std::function<void(std::string_view)>;

// Draws a heat map for each layer and head, with keys above and queries to the left. Each pair has a cell that is two
// columns wide. A map that is wider than the terminal is cut into panels, one below the other, each with the queries.
// The last line is the scale of colours, from 0 to the largest weight of all maps. Without colours, larger weights are
// darker characters. Throws InputError if a weight is not from 0 to 1.
void draw_in_terminal(const LabelledAttention& attention, const TerminalStyle& style, const TextSink& write);

}  // namespace encdec::cli
