#include <gtest/gtest.h>

#include "tools/attention/terminal.h"

namespace encdec::cli {
namespace {

using Colors = TerminalStyle::Colors;

TerminalFacts terminal(const std::string& term) {
  TerminalFacts facts;
  facts.is_terminal = true;
  facts.window_columns = 120;
  facts.term = term;
  return facts;
}

Colors colors(const TerminalFacts& facts, ColorChoice choice = ColorChoice::automatic) {
  return choose_style(choice, facts).colors;
}

TEST(TerminalStyle, ColorsDependOnTheTerminal) {
  EXPECT_EQ(colors(terminal("xterm-256color")), Colors::cube);
  EXPECT_EQ(colors(terminal("xterm-direct")), Colors::truecolor);
  EXPECT_EQ(colors(terminal("vt100")), Colors::none);
  EXPECT_EQ(colors(terminal("dumb")), Colors::none);
  EXPECT_EQ(colors(terminal("")), Colors::none);
  for (const char* value : {"truecolor", "24bit"}) {
    TerminalFacts facts = terminal("xterm");
    facts.colorterm = value;
    EXPECT_EQ(colors(facts), Colors::truecolor);
    facts.term = "dumb";
    EXPECT_EQ(colors(facts), Colors::none);
  }
}

TEST(TerminalStyle, FilesAndPipesGetNoColorsByDefault) {
  TerminalFacts facts = terminal("xterm-256color");
  facts.is_terminal = false;
  EXPECT_EQ(colors(facts), Colors::none);
  EXPECT_EQ(colors(facts, ColorChoice::always), Colors::cube);
  facts.colorterm = "truecolor";
  EXPECT_EQ(colors(facts, ColorChoice::always), Colors::truecolor);
}

TEST(TerminalStyle, NoColorDisablesColorsByDefault) {
  TerminalFacts facts = terminal("xterm-256color");
  facts.no_color = "";
  EXPECT_EQ(colors(facts), Colors::cube);
  facts.no_color = "1";
  EXPECT_EQ(colors(facts), Colors::none);
  EXPECT_EQ(colors(facts, ColorChoice::always), Colors::cube);
  EXPECT_EQ(colors(terminal("xterm-256color"), ColorChoice::never), Colors::none);
}

TEST(TerminalStyle, ColumnsComeFromTheVariableThenTheWindowThenAre80) {
  TerminalFacts facts = terminal("xterm");
  EXPECT_EQ(choose_style(ColorChoice::automatic, facts).columns, 120);
  facts.columns = "60";
  EXPECT_EQ(choose_style(ColorChoice::automatic, facts).columns, 60);
  for (const char* wrong : {"", "0", "-5", "wide", "60 ", "99999999999999999999"}) {
    facts.columns = wrong;
    EXPECT_EQ(choose_style(ColorChoice::automatic, facts).columns, 120) << wrong;
  }
  facts.window_columns = 0;
  EXPECT_EQ(choose_style(ColorChoice::automatic, facts).columns, 80);
}

}  // namespace
}  // namespace encdec::cli
