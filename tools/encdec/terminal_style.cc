#include "terminal_style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace encdec::cli {
namespace {

using Colors = TerminalStyle::Colors;

constexpr int kDefaultColumns = 80;
constexpr int kMaxColumns = 10000;

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

bool has_truecolor(const TerminalFacts& facts) {
  const std::string colorterm = facts.colorterm.value_or("");
  return colorterm == "truecolor" || colorterm == "24bit" || facts.term.value_or("").ends_with("-direct");
}

Colors colors_of(ColorChoice choice, const TerminalFacts& facts) {
  const std::string term = facts.term.value_or("");
  if (choice == ColorChoice::never) return Colors::none;
  if (choice == ColorChoice::automatic) {
    if (!facts.is_terminal || !facts.no_color.value_or("").empty()) return Colors::none;
    if (term.empty() || term == "dumb") return Colors::none;
  }
  if (has_truecolor(facts)) return Colors::truecolor;
  const bool has_cube = choice == ColorChoice::always || term.find("256color") != std::string::npos;
  return has_cube ? Colors::cube : Colors::none;
}

std::optional<int> positive_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return std::min(value, kMaxColumns);
}

}  // namespace

TerminalFacts terminal_facts(int descriptor) {
  TerminalFacts facts;
  facts.is_terminal = ::isatty(descriptor) == 1;
  winsize size = {};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0) facts.window_columns = size.ws_col;
  facts.term = environment("TERM");
  facts.colorterm = environment("COLORTERM");
  facts.no_color = environment("NO_COLOR");
  facts.columns = environment("COLUMNS");
  return facts;
}

TerminalStyle choose_style(ColorChoice choice, const TerminalFacts& facts) {
  TerminalStyle style;
  style.colors = colors_of(choice, facts);
  const int window = facts.window_columns > 0 ? facts.window_columns : kDefaultColumns;
  style.columns = positive_number(facts.columns.value_or("")).value_or(window);
  return style;
}

}  // namespace encdec::cli
