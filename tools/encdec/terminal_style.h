#pragma once

#include <cstdint>
#include <optional>
#include <string>

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
  int window_columns = 0;           // 0 where unknown
  std::optional<std::string> term;  // the environment variables of these names
  std::optional<std::string> colorterm;
  std::optional<std::string> no_color;  // see no-color.org
  std::optional<std::string> columns;
};

TerminalFacts terminal_facts(int descriptor);

// automatic: colours on terminals that have them, unless NO_COLOR forbids it. always: at least 256 of them.
// The columns are those of COLUMNS, else of the window, else 80.
TerminalStyle choose_style(ColorChoice choice, const TerminalFacts& facts);

}  // namespace encdec::cli
