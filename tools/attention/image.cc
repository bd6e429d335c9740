#include "attention/image.h"

#include <encdec/engine/base/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "attention/color_map.h"
#include "attention/image_canvas.h"
#include "attention/token_text.h"

namespace encdec::cli {
namespace {

// Sizes in pixels.
constexpr int kMargin = 24;
constexpr int kGap = 24;             // between maps, and between sections
constexpr int kLabelGap = 6;         // between a map and its labels
constexpr int kMinWidth = 360;       // minimum width of the image, for the titles and the colour scale
constexpr int kMaxLabelLength = 10;  // in multiples of the font size
constexpr int kTitleHeight = 32;
constexpr int kCaptionHeight = 24;
constexpr int kScaleCell = 12, kScaleCells = 16;
// Sizes of cells, tried in this order. A grid of several maps has cells of at most kLargestGridCell pixels. Token
// labels need cells of at least kSmallestReadableCell pixels.
constexpr int kCells[] = {32, 28, 24, 20, 16, 14, 12, 10, 8, 6, 5, 4, 3, 2, 1};
constexpr int kLargestGridCell = 16, kSmallestReadableCell = 10;
constexpr int kMaxSide = 32767;              // cairo's limit
constexpr int kMaxPixels = 64 << 20;         // 256 MiB
constexpr int kMaxReadableSide = 6000;       // a longer side shrinks the cells, down to kSmallestReadableCell
constexpr std::size_t kMaxTokenBytes = 256;  // longer tokens are cut, since their labels are cut too

constexpr Font kTitle = {20, PANGO_WEIGHT_BOLD};
constexpr Font kCaption = {14};

// Texts of one kind. `width` is the width of the widest text in the font of captions.
struct Labels {
  std::vector<std::string> texts;
  double width = 0;

  Labels(std::vector<std::string> all, const TextSetter& setter) : texts(std::move(all)) {
    for (const std::string& text : texts) width = std::max(width, setter.width(text, kCaption));
  }
};

std::vector<std::string> short_tokens(const std::vector<std::string>& tokens) {
  std::vector<std::string> texts;
  for (const std::string& token : tokens) texts.push_back(visible(std::string_view(token).substr(0, kMaxTokenBytes)));
  return texts;
}

std::vector<std::string> captions_of(const LabelledAttention& attention) {
  std::vector<std::string> captions;
  for (std::size_t map = 0; map < attention.maps(); ++map) captions.push_back(attention.name_of(map));
  return captions;
}

// Returns the number of maps in a row of the grid: the number of heads, or, if there is only one layer or one head, the
// width of a square grid.
int columns_of(const LabelledAttention& attention) {
  if (attention.layers.size() > 1 && attention.heads.size() > 1) return static_cast<int>(attention.heads.size());
  return static_cast<int>(std::ceil(std::sqrt(static_cast<double>(attention.maps()))));
}

Font label_font(double cell) {
  return {std::min(cell * 0.75, 16.0)};
}

// Returns the length of labels with the gap to the map; 0 if cells are too small for labels. Text is not hinted, so its
// length is proportional to the font size.
double label_length(const Labels& labels, int cell) {
  if (cell < kSmallestReadableCell) return 0;
  const double size = label_font(cell).size;
  return std::ceil(std::min(labels.width * size / kCaption.size, kMaxLabelLength * size)) + 1 + kLabelGap;
}

// The maps of one kind of attention, and their layout in pixels.
struct Section {
  const LabelledAttention& attention;
  Labels queries, keys, captions;
  int columns, rows;  // number of maps beside and below each other
  double query_length = 0, key_length = 0, map_width = 0, map_height = 0;
  double column_width = 0;       // width of a map or its caption, whichever is larger
  double width = 0, height = 0;  // size of the section

  Section(const LabelledAttention& shown, const TextSetter& setter)
      : attention(shown),
        queries(short_tokens(shown.queries), setter),
        keys(short_tokens(shown.keys), setter),
        captions(captions_of(shown), setter),
        columns(columns_of(shown)),
        rows((static_cast<int>(shown.maps()) + columns - 1) / columns) {}

  void arrange(int cell) {
    query_length = label_length(queries, cell);
    key_length = label_length(keys, cell);
    map_width = static_cast<double>(keys.texts.size()) * cell;
    map_height = static_cast<double>(queries.texts.size()) * cell;
    column_width = std::max(map_width, std::ceil(captions.width) + 1);
    width = query_length + columns * column_width + (columns - 1) * kGap;
    height = kTitleHeight + key_length + rows * (kCaptionHeight + map_height) + (rows - 1) * kGap;
  }
};

// The layout of all sections, with the largest cells that fit.
struct Picture {
  std::vector<Section> sections;
  int cell = 0;
  double width = 0, height = 0;

  Picture(std::span<const LabelledAttention> attentions, const TextSetter& setter) {
    for (const LabelledAttention& attention : attentions) sections.emplace_back(attention, setter);
    const bool one_map = attentions.size() == 1 && attentions[0].maps() == 1;
    for (const int size : kCells) {
      if (!one_map && size > kLargestGridCell) continue;
      arrange(size);
      if (fits()) return;
    }
    throw InputError(fmt::format("image: {} x {} pixels, expected at most {} a side and {} in all", width, height,
                                 kMaxSide, kMaxPixels));
  }

 private:
  void arrange(int cell_size) {
    cell = cell_size;
    width = kMinWidth;
    height = 2 * kMargin + kCaptionHeight;
    for (Section& section : sections) {
      section.arrange(cell);
      width = std::max(width, section.width);
      height += section.height + kGap;
    }
    width += 2 * kMargin;
  }
  bool fits() const {
    const int side = cell > kSmallestReadableCell ? kMaxReadableSide : kMaxSide;
    return width <= side && height <= side && width * height <= kMaxPixels;
  }
};

// A painter of the picture: draws the sections one below the other.
class Painter {
 public:
  Painter(Picture picture, const TextSetter& setter, float largest)
      : picture_(std::move(picture)), setter_(setter), largest_(largest) {}

  std::string png() {
    for (const Section& section : picture_.sections) draw(section);
    draw_scale();
    return canvas_.png();
  }

 private:
  void draw(const Section& section) {
    canvas_.draw(setter_, std::string(to_string(section.attention.map.kind)), kTitle,
                 {{kMargin, y_}, picture_.width - 2 * kMargin, kTitleHeight});
    y_ += kTitleHeight;
    for (int row = 0; row < section.rows; ++row) {
      const double top = y_ + kCaptionHeight + (row == 0 ? section.key_length : 0);
      for (int column = 0; column < section.columns; ++column) {
        const double left = kMargin + section.query_length + column * (section.column_width + kGap);
        const auto map = static_cast<std::size_t>(std::int64_t{row} * section.columns + column);
        if (map < section.attention.maps()) draw_map(section, map, {left, top});
      }
      const TextBox label{{kMargin, top}, section.query_length - kLabelGap, cell_, TextBox::Form::at_end};
      if (section.query_length > 0) draw_labels(section.queries, label, {0, 1});
      y_ = top + section.map_height + kGap;
    }
  }

  void draw_scale() {
    std::vector<Color> colors(kScaleCells);
    for (std::size_t i = 0; i < kScaleCells; ++i) {
      colors[i] = color_of(ColorMap::blues, static_cast<double>(i) / (kScaleCells - 1));
    }
    const double name = std::ceil(setter_.width("weight 0", kCaption)) + 1;
    const double x = kMargin + name + kLabelGap;
    draw_caption("weight 0", kMargin, name);
    canvas_.draw({x, y_ + (kCaptionHeight - kScaleCell) / 2}, colors, kScaleCells, kScaleCell, Canvas::Lines::none);
    draw_caption(fmt::format("{:.2g}", largest_), x + kScaleCells * kScaleCell + kLabelGap, 80);
  }

  void draw_caption(const std::string& text, double x, double width) {
    canvas_.draw(setter_, text, kCaption, {{x, y_}, width, kCaptionHeight});
  }

  void draw_map(const Section& section, std::size_t map, Point corner) {
    draw_caption(section.captions.texts[map], corner.x, section.column_width);
    std::vector<Color> colors;
    for (const float weight : section.attention.weights_of(map)) {
      colors.push_back(color_of(ColorMap::blues, largest_ > 0 ? weight / largest_ : 0));
    }
    const auto lines = picture_.cell >= kSmallestReadableCell ? Canvas::Lines::pale : Canvas::Lines::none;
    canvas_.draw(corner, colors, static_cast<int>(section.keys.texts.size()), picture_.cell, lines);
    const TextBox label{
        {corner.x, corner.y - kLabelGap}, section.key_length - kLabelGap, cell_, TextBox::Form::upwards};
    if (map < static_cast<std::size_t>(section.columns) && section.key_length > 0) {
      draw_labels(section.keys, label, {1, 0});
    }
  }

  // Draws labels. `label` is the box of the first one, `step` the distance from one to the next, in cells.
  void draw_labels(const Labels& labels, TextBox label, Point step) {
    for (const std::string& text : labels.texts) {
      canvas_.draw(setter_, text, label_font(cell_), label);
      label.corner = {label.corner.x + step.x * cell_, label.corner.y + step.y * cell_};
    }
  }

  const Picture picture_;
  const TextSetter& setter_;
  float largest_;
  Canvas canvas_{static_cast<int>(picture_.width), static_cast<int>(picture_.height)};
  double cell_ = picture_.cell;
  double y_ = kMargin;
};

}  // namespace

std::string draw_png(std::span<const LabelledAttention> attentions) {
  if (attentions.empty()) throw InputError("image: no attention, expected one kind at least");
  float largest = 0;
  for (const LabelledAttention& attention : attentions) {
    attention.check();
    largest = std::max(largest, attention.largest_weight());
  }
  const TextSetter setter;
  return Painter(Picture(attentions, setter), setter, largest).png();
}

bool can_draw_png() {
  return true;
}

}  // namespace encdec::cli
