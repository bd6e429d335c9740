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

// The properties of an output and of the environment from which choose_style() chooses.
struct TerminalFacts {
  bool is_terminal = false;
  int window_columns = 0;  // 0 if unknown
  std::string term;        // TERM; this and the other environment variables are empty if unset
  std::string colorterm;
  std::string no_color;  // see no-color.org
  std::string columns;
};

TerminalFacts terminal_facts(int descriptor);

// Chooses colours and width.
// - Colours: `automatic` uses the terminal's colours, and none if NO_COLOR is set; `always` uses at least 256.
// - Width: COLUMNS, else the width of the window, else 80.
TerminalStyle choose_style(ColorChoice choice, const TerminalFacts& facts);

// A callback that receives the text of a picture in parts.
using TextSink = std::function<void(std::string_view)>;

// Draws a heat map for each layer and head, with keys at the top and queries at the left. A cell is two columns wide. A
// map that is wider than the terminal is split into panels, from top to bottom, each with the queries. The last line is
// the colour scale, from 0 to the largest weight of all maps. Without colours, larger weights are darker characters.
// Throws InputError if a weight is not from 0 to 1.
void draw_in_terminal(const LabelledAttention& attention, const TerminalStyle& style, const TextSink& write);

}  // namespace encdec::cli
