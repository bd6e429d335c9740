#include "attention/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "attention/token_text.h"
#include "common/parse_number.h"

namespace encdec::cli {
namespace {

using Colors = TerminalStyle::Colors;

constexpr std::size_t kCellColumns = 2;
constexpr int kMaxKeyRows = 12;
constexpr int kMaxQueryColumns = 24;
constexpr std::size_t kLegendCells = 10;
constexpr std::string_view kInk = " .:-=+*#%@";  // characters from light to dark
constexpr int kDefaultColumns = 80;
constexpr int kMaxColumns = 10000;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns the colours to use, as choose_style() describes. For COLORTERM, see termstandard/colors.
Colors colors_of(ColorChoice choice, const TerminalFacts& facts) {
  if (choice == ColorChoice::never) return Colors::none;
  if (choice == ColorChoice::automatic) {
    if (!facts.is_terminal || !facts.no_color.empty()) return Colors::none;
    if (facts.term.empty() || facts.term == "dumb") return Colors::none;
  }
  if (facts.colorterm == "truecolor" || facts.colorterm == "24bit" || facts.term.ends_with("-direct")) {
    return Colors::truecolor;
  }
  const bool has_cube = choice == ColorChoice::always || facts.term.find("256color") != std::string::npos;
  return has_cube ? Colors::cube : Colors::none;
}

// Converts a size. A negative size becomes 0.
std::size_t size_t_of(int value) {
  return static_cast<std::size_t>(std::max(value, 0));
}

int columns_of(const std::vector<Glyph>& label) {
  return std::accumulate(label.begin(), label.end(), 0, [](int sum, const Glyph& g) { return sum + g.columns; });
}

// Returns the number of the nearest colour in xterm's cube of 6 x 6 x 6 colours, which are numbered from 16.
int cube_color(const Color& color) {
  constexpr std::array<int, 6> kLevels = {0, 95, 135, 175, 215, 255};
  const auto nearest = [&](std::uint8_t value) {
    const auto further = [&](int a, int b) { return std::abs(a - value) < std::abs(b - value); };
    return static_cast<int>(std::ranges::min_element(kLevels, further) - kLevels.begin());
  };
  return 16 + 36 * nearest(color.red) + 6 * nearest(color.green) + nearest(color.blue);
}

// Returns the escape sequence that sets the background of a cell.
std::string background(Colors colors, int number) {
  const Color color = color_of(number);
  if (colors == Colors::cube) return fmt::format("\x1b[48;5;{}m", cube_color(color));
  return fmt::format("\x1b[48;2;{};{};{}m", color.red, color.green, color.blue);
}

// Returns a line of cells. Sets a colour only where the colour changes, and resets it at the end of the line.
std::string cells(Colors colors, std::span<const float> weights, float largest) {
  std::string line, last;
  for (const float weight : weights) {
    const int number = color_number(weight, largest);
    if (colors == Colors::none) {
      const double ink = static_cast<double>(number) * static_cast<double>(kInk.size() - 1) / (kColors - 1);
      line.append(kCellColumns, kInk[static_cast<std::size_t>(std::lround(ink))]);
      continue;
    }
    std::string color = background(colors, number);
    if (color != last) line += color;
    last = std::move(color);
    line.append(kCellColumns, ' ');
  }
  if (!last.empty()) line += "\x1b[0m";
  return line;
}

// Replaces trailing spaces by a newline.
void end_line(std::string& text) {
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
}

// Draws the maps of one kind of attention in panels, which all have the same layout.
class Panels {
 public:
  Panels(const LabelledAttention& attention, const TerminalStyle& style)
      : colors_(style.colors), largest_(attention.largest_weight()) {
    // Labels of queries use at most a third of the width. The cells use the rest.
    const int query_columns = std::clamp(style.columns / 3, 1, kMaxQueryColumns);
    for (const std::string& query : attention.queries) queries_.push_back(glyphs(query, query_columns));
    for (const std::string& key : attention.keys) keys_.push_back(glyphs_downwards(key, kMaxKeyRows));
    for (const auto& query : queries_) margin_ = std::max(margin_, size_t_of(columns_of(query)));
    const std::size_t room = size_t_of(style.columns - static_cast<int>(margin_) - 1) / kCellColumns;
    width_ = std::clamp<std::size_t>(room, 1, keys_.size());
  }

  // Draws a map, one panel after the other.
  void draw(std::span<const float> weights, const TextSink& write) const {
    for (std::size_t first = 0; first < keys_.size(); first += width_) {
      const std::size_t count = std::min(width_, keys_.size() - first);
      if (first > 0) write("\n");
      write(key_rows(first, count));
      for (std::size_t query = 0; query < queries_.size(); ++query) {
        write(query_row(query, weights.subspan(query * keys_.size() + first, count)));
      }
    }
  }

  std::string legend() const {
    std::vector<float> steps(kLegendCells);
    for (std::size_t i = 0; i < kLegendCells; ++i) steps[i] = static_cast<float>(i) / (kLegendCells - 1);
    return fmt::format("weight 0 {} {}\n", cells(colors_, steps, 1), weight_text(largest_));
  }

 private:
  // Returns the lines above the cells, in which keys [first, first + count) run downwards.
  std::string key_rows(std::size_t first, std::size_t count) const {
    const std::span keys(keys_.data() + first, count);
    std::size_t height = 0;
    for (const auto& key : keys) height = std::max(height, key.size());
    std::string text;
    for (std::size_t row = 0; row < height; ++row) {
      std::string line(margin_ + 1, ' ');
      for (const auto& key : keys) {
        const std::size_t above = height - key.size();
        const Glyph glyph = row < above ? Glyph() : key[row - above];
        line += glyph.text;
        line.append(kCellColumns - size_t_of(glyph.columns), ' ');
      }
      end_line(line);
      text += line;
    }
    return text;
  }

  // Returns a line with the label of a query and its cells.
  std::string query_row(std::size_t query, std::span<const float> weights) const {
    std::string line(margin_ - size_t_of(columns_of(queries_[query])), ' ');
    for (const Glyph& glyph : queries_[query]) line += glyph.text;
    line += ' ';
    line += cells(colors_, weights, largest_);
    end_line(line);
    return line;
  }

  Colors colors_;
  float largest_;
  std::vector<std::vector<Glyph>> queries_;
  std::vector<std::vector<Glyph>> keys_;
  std::size_t margin_ = 0;  // columns of the widest query
  std::size_t width_ = 1;   // maximum number of keys in a panel
};

}  // namespace

TerminalFacts terminal_facts(int descriptor) {
  winsize size = {};
  ::ioctl(descriptor, TIOCGWINSZ, &size);
  return {.is_terminal = ::isatty(descriptor) == 1,
          .window_columns = size.ws_col,
          .term = environment("TERM"),
          .colorterm = environment("COLORTERM"),
          .no_color = environment("NO_COLOR"),
          .columns = environment("COLUMNS")};
}

TerminalStyle choose_style(ColorChoice choice, const TerminalFacts& facts) {
  const int typed = std::min(parse_number<int>(facts.columns).value_or(0), kMaxColumns);
  const int window = facts.window_columns > 0 ? facts.window_columns : kDefaultColumns;
  return {.colors = colors_of(choice, facts), .columns = typed > 0 ? typed : window};
}

void draw_in_terminal(const LabelledAttention& attention, const TerminalStyle& style, const TextSink& write) {
  attention.check();
  const Panels panels(attention, style);
  for (std::size_t map = 0; map < attention.maps(); ++map) {
    write(fmt::format("{}, {}\n{} (rows), {} (columns)\n\n", to_string(attention.map.kind), attention.name_of(map),
                      attention.query_title(), attention.key_title()));
    panels.draw(attention.weights_of(map), write);
    write("\n");
  }
  write(panels.legend());
}

}  // namespace encdec::cli
