#include "attention/svg.h"

#include <encdec/engine/base/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "attention/token_text.h"

namespace encdec::cli {
namespace {

// Sizes in pixels.
constexpr int kMargin = 24;
constexpr int kGap = 24;         // gap between maps and between sections
constexpr int kLabelGap = 6;     // gap between a map and its labels
constexpr int kMinWidth = 360;   // minimum width without margins, enough for the headings and the scale
constexpr int kLineHeight = 24;  // height of a line of titles and captions
constexpr int kScaleCell = 3, kScaleHeight = 12;
constexpr double kFontSize = 14, kHeadingSize = 20, kMaxLabelSize = 16;
// Cell sizes to try, in this order. A grid of maps uses at most kLargestGridCell. Token labels need at least
// kSmallestReadableCell.
constexpr int kCells[] = {32, 28, 24, 20, 16, 14, 12, 10, 8, 6, 5, 4, 3, 2, 1};
constexpr int kLargestGridCell = 16, kSmallestReadableCell = 10;
constexpr int kMaxSide = 32767;         // limit of cairo, which rsvg-convert and Inkscape use
constexpr int kMaxPixels = 64 << 20;    // 256 MiB as an image
constexpr int kMaxReadableSide = 6000;  // a larger image gets smaller cells, down to kSmallestReadableCell

// Lengths of texts are in columns: a letter has one column, an ideograph has two.
constexpr int kMaxLabelColumns = 16;
constexpr std::size_t kMaxTokenBytes = 256;  // longer tokens are truncated
constexpr std::size_t kMaxTitleLines = 4;
// The width of a column, in multiples of the font size. It is exact for labels, which are monospaced, and an estimate
// for other text.
constexpr double kLabelColumn = 0.61, kTextColumn = 0.65;

constexpr double kBaseline = 0.35;  // distance of a text's middle from its baseline, in multiples of the font size

constexpr std::size_t kMaxTooltips = 10'000;

int columns_of(std::string_view text) {
  return beginning_of(text, INT_MAX).columns;
}

double text_length(std::string_view text) {
  return std::ceil(columns_of(text) * kTextColumn * kFontSize);
}

double label_size(int cell) {
  return std::min(cell * 0.75, kMaxLabelSize);
}

// The tokens on one side of a map, and their labels.
struct Labels {
  std::vector<std::string> tokens;
  std::vector<std::string> texts;
  int columns = 0;  // columns of the longest text

  explicit Labels(const std::vector<std::string>& all) {
    for (const std::string& token : all) {
      tokens.push_back(visible(std::string_view(token).substr(0, kMaxTokenBytes)));
      texts.push_back(shortened(tokens.back(), kMaxLabelColumns));
      columns = std::max(columns, columns_of(texts.back()));
    }
  }

  // Returns the length of the labels and the gap to the map; 0 if cells are too small for labels.
  double length(int cell) const {
    return cell < kSmallestReadableCell ? 0 : std::ceil(columns * kLabelColumn * label_size(cell)) + kLabelGap;
  }
};

// Returns the number of columns of the grid: the number of heads. If there is only one layer or one head, returns the
// width of a square grid.
int maps_in_a_row(const LabelledAttention& attention) {
  if (attention.layers.size() > 1 && attention.heads.size() > 1) return static_cast<int>(attention.heads.size());
  return static_cast<int>(std::ceil(std::sqrt(static_cast<double>(attention.maps()))));
}

// The maps of one kind of attention, and their layout in pixels.
// - From left to right: title of the queries, their labels, maps.
// - From top to bottom: heading, title of the keys, captions, labels of the keys, first row of maps, captions, second
//   row of maps, and so on. The caption of a single map is above the title of the keys.
struct Section {
  const LabelledAttention& attention;
  Labels queries, keys;
  int columns, rows;         // size of the grid of maps
  double left = 0, top = 0;  // corner of the first map
  double map_width = 0, map_height = 0;
  double column_width = 0;       // the larger width of a map and its caption
  double width = 0, height = 0;  // size of the section

  explicit Section(const LabelledAttention& shown)
      : attention(shown),
        queries(shown.queries),
        keys(shown.keys),
        columns(maps_in_a_row(shown)),
        rows((static_cast<int>(shown.maps()) + columns - 1) / columns) {}

  // Computes the layout for cells of this size.
  void arrange(int cell) {
    map_width = static_cast<double>(keys.texts.size()) * cell;
    map_height = static_cast<double>(queries.texts.size()) * cell;
    column_width = map_width;
    for (std::size_t map = 0; map < attention.maps(); ++map) {
      column_width = std::max(column_width, text_length(attention.name_of(map)));
    }
    left = kLineHeight + queries.length(cell);
    width = left + std::max(columns * (column_width + kGap) - kGap, text_length(attention.key_title()));
    // The title of the queries ends at the bottom of the first map, and can be longer than the map's height.
    top =
        2 * kLineHeight + std::max(kLineHeight + keys.length(cell), text_length(attention.query_title()) - map_height);
    height = top + rows * (map_height + kGap + kLineHeight) - kGap - kLineHeight;
  }
};

// A title, and sections from top to bottom.
struct Layout {
  std::string title;
  std::vector<Section> sections;
  std::vector<std::string> title_lines = {};
  int cell = 0;
  double width = 0, height = 0;

  Layout(std::string_view text, std::span<const LabelledAttention> attentions) : title(visible(text, " ")) {
    for (const LabelledAttention& attention : attentions) sections.emplace_back(attention);
  }

  bool has_one_map() const { return sections.size() == 1 && sections[0].attention.maps() == 1; }

  // Chooses the largest cells that fit. Throws InputError if no cells fit.
  void arrange() {
    for (const int size : kCells) {
      if (!has_one_map() && size > kLargestGridCell) continue;
      arrange(size);
      const int side = cell > kSmallestReadableCell ? kMaxReadableSide : kMaxSide;
      if (width <= side && height <= side && width * height <= kMaxPixels) return;
    }
    throw InputError(fmt::format("image: {} x {} pixels, expected at most {} per side and {} in total", width, height,
                                 kMaxSide, kMaxPixels));
  }

  // Computes the layout for cells of this size.
  void arrange(int cell_size) {
    cell = cell_size;
    width = kMinWidth;
    height = 2 * kMargin + kLineHeight;
    for (Section& section : sections) {
      section.arrange(cell);
      width = std::max(width, section.width);
      height += section.height + kGap;
    }
    title_lines = wrapped(title, static_cast<int>(width / (kTextColumn * kFontSize)), kMaxTitleLines);
    height += static_cast<double>(title_lines.size()) * kLineHeight;
    width += 2 * kMargin;
  }
};

// Returns a label as markup. Bars (U+2581), which are spaces in sentencepiece, are pale so that letters stand out.
std::string label_markup(const std::string& label) {
  constexpr std::string_view kBar = "▁", kPaleBar = "<tspan fill='#b4b4b4'>▁</tspan>";
  std::string markup = escape_markup(label);
  for (std::size_t at = markup.find(kBar); at != std::string::npos; at = markup.find(kBar, at + kPaleBar.size())) {
    markup.replace(at, kBar.size(), kPaleBar);
  }
  return markup;
}

// Writes a layout as SVG.
class Drawing {
 public:
  Drawing(Layout layout, float largest) : layout_(std::move(layout)), cell_(layout_.cell), largest_(largest) {}

  std::string svg() {
    add("<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} {1}' ", layout_.width,
        layout_.height);
    add("font-family='sans-serif' font-size='{}' fill='#222'><rect width='100%' height='100%' fill='#fff'/>",
        kFontSize);
    for (const std::string& line : layout_.title_lines) {
      add("<text x='{}' y='{}'>{}</text>", kMargin, y_ + kFontSize, escape_markup(line));
      y_ += kLineHeight;
    }
    for (const Section& section : layout_.sections) draw(section);
    draw_scale();
    return std::move(svg_) + "</svg>\n";
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> form, Args&&... args) {
    fmt::format_to(std::back_inserter(svg_), form, std::forward<Args>(args)...);
  }

  // Draws the heading, the axis titles, and the maps. Labels of the keys are above the first row of maps. Labels of the
  // queries are at the left of every row.
  void draw(const Section& section) {
    add("<text x='{}' y='{}' font-size='{}' font-weight='bold'>{}</text>", kMargin, y_ + kHeadingSize, kHeadingSize,
        to_string(section.attention.map.kind));
    draw_axis_titles(section);
    for (int row = 0; row < section.rows; ++row) {
      const double top = y_ + section.top + row * (section.map_height + kGap + kLineHeight);
      for (int column = 0; column < section.columns; ++column) {
        const double left = kMargin + section.left + column * (section.column_width + kGap);
        const auto map = static_cast<std::size_t>(std::int64_t{row} * section.columns + column);
        if (map == section.attention.maps()) break;
        draw_map(section, map, left, top);
        if (row == 0) draw_labels(section.keys, "keys", "start", fmt::format("translate({} {})rotate(-90)", left, top));
      }
      draw_labels(section.queries, "queries", "end", fmt::format("translate({} {})", kMargin + section.left, top));
    }
    y_ += section.height + kGap;
  }

  // Draws the title of the keys above the maps, and the title of the queries at their left.
  void draw_axis_titles(const Section& section) {
    const std::string_view keys = section.attention.key_title(), queries = section.attention.query_title();
    const double width = std::max(section.columns * (section.column_width + kGap) - kGap, text_length(keys));
    const double height = std::max(section.map_height, text_length(queries));
    const double bottom =
        section.attention.maps() == 1 ? section.top - section.keys.length(cell_) - kLabelGap : 2 * kLineHeight;
    add("<g fill='#666' text-anchor='middle'><text x='{}' y='{}'>{}</text>", kMargin + section.left + width / 2,
        y_ + bottom - kLabelGap, keys);
    add("<text transform='translate({} {})rotate(-90)'>{}</text></g>", kMargin + kFontSize,
        y_ + section.top + section.map_height - height / 2, queries);
  }

  // Draws the caption, the cells, and the lines between and around them.
  void draw_map(const Section& section, std::size_t map, double left, double top) {
    const double labels = map < static_cast<std::size_t>(section.columns) ? section.keys.length(cell_) : 0;
    const double caption = section.attention.maps() == 1 ? y_ + 2 * kLineHeight : top - labels;
    add("<text class='caption' x='{}' y='{}'>{}</text>", left, caption - kLabelGap, section.attention.name_of(map));
    add("<g class='cells' transform='translate({} {})scale({})'>", left, top, cell_);
    draw_cells(section, map);
    // Shift the lines by half a pixel, so that they cover one row of pixels instead of two.
    add("</g><g fill='none' stroke='#000' transform='translate({} {})'>", left - 0.5, top - 0.5);
    if (cell_ >= kSmallestReadableCell) {
      add("<path stroke-opacity='.06' d='");
      for (int x = cell_; x < section.map_width; x += cell_) add("M{} 1v{}", x, section.map_height);
      for (int y = cell_; y < section.map_height; y += cell_) add("M1 {}h{}", y, section.map_width);
      add("'/>");
    }
    add("<rect width='{}' height='{}' stroke='#b3b3b3'/></g>", section.map_width + 1, section.map_height + 1);
  }

  // Draws cells as paths: with tooltips, one path per cell; otherwise, one path per colour.
  void draw_cells(const Section& section, std::size_t map) {
    const std::span<const float> weights = section.attention.weights_of(map);
    const bool has_tooltips = layout_.has_one_map() && weights.size() <= kMaxTooltips;
    const std::size_t keys = section.keys.tokens.size();
    // In each row, collect rectangles of adjacent cells with the same colour.
    std::array<std::string, kColors> paths;
    for (std::size_t begin = 0, end = 0; begin < weights.size(); begin = end) {
      const int number = color_number(weights[begin], largest_);
      const std::size_t query = begin / keys, key = begin % keys;
      const std::size_t limit = has_tooltips ? begin + 1 : (query + 1) * keys;
      for (end = begin + 1; end < limit && color_number(weights[end], largest_) == number;) ++end;
      const std::string rectangle = fmt::format("M{} {}h{}v1H{}z", key, query, end - begin, key);
      if (!has_tooltips) {
        paths[static_cast<std::size_t>(number)] += rectangle;
        continue;
      }
      add("<path fill='{}' d='{}'><title>{} attends to {} with weight {}</title></path>", color_text(number), rectangle,
          escape_markup(section.queries.tokens[query]), escape_markup(section.keys.tokens[key]),
          weight_text(weights[begin]));
    }
    for (int number = 0; number < kColors; ++number) {
      const std::string& path = paths[static_cast<std::size_t>(number)];
      if (!path.empty()) add("<path fill='{}' d='{}'/>", color_text(number), path);
    }
  }

  // Draws a column of labels that begin or end at the vertical axis, depending on `anchor` ("start" or "end").
  // `transform` moves the column to its position.
  void draw_labels(const Labels& labels, std::string_view name, std::string_view anchor, const std::string& transform) {
    const double length = labels.length(cell_), size = label_size(cell_);
    if (length == 0) return;
    const bool ends_here = anchor == "end";
    add("<g class='{}' font-family='monospace' font-size='{}' text-anchor='{}'><g transform='{}'>", name, size, anchor,
        transform);
    add("<rect x='{}' width='{}' height='{}' fill='#fff'/>", ends_here ? -length : 1, length - 1,
        static_cast<double>(labels.texts.size()) * cell_);
    double y = cell_ / 2.0 + kBaseline * size;
    for (const std::string& text : labels.texts) {
      add("<text x='{}' y='{:g}'>{}</text>", ends_here ? -kLabelGap : kLabelGap, y, label_markup(text));
      y += cell_;
    }
    add("</g></g>");
  }

  // Draws the colour scale, from 0 to the largest weight.
  void draw_scale() {
    constexpr std::string_view kZero = "weight 0";
    const double x = kMargin + text_length(kZero), width = kColors * kScaleCell;
    add("<text x='{}' y='{}'>{}</text><g class='colors' shape-rendering='crispEdges'>", kMargin, y_ + kScaleHeight,
        kZero);
    for (int number = 0; number < kColors; ++number) {
      add("<rect x='{}' y='{}' width='{}' height='{}' fill='{}'/>", x + number * kScaleCell, y_, kScaleCell,
          kScaleHeight, color_text(number));
    }
    add("</g><rect x='{}' y='{}' width='{}' height='{}' fill='none' stroke='#b3b3b3'/>", x - 0.5, y_ - 0.5, width + 1,
        kScaleHeight + 1);
    add("<text class='largest' x='{}' y='{}'>{}</text>", x + width + kLabelGap, y_ + kScaleHeight,
        weight_text(largest_));
  }

  static std::string color_text(int number) {
    const Color color = color_of(number);
    return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
  }

  const Layout layout_;
  const int cell_;
  const float largest_;
  double y_ = kMargin;  // top of the next part
  std::string svg_;
};

}  // namespace

std::string draw_svg(std::string_view title, std::span<const LabelledAttention> attentions) {
  if (attentions.empty()) throw InputError("image: no attention, expected at least one kind");
  float largest = 0;
  for (const LabelledAttention& attention : attentions) {
    attention.check();
    largest = std::max(largest, attention.largest_weight());
  }
  Layout layout(title, attentions);
  layout.arrange();
  return Drawing(std::move(layout), largest).svg();
}

}  // namespace encdec::cli
