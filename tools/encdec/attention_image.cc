#include "attention_image.h"

#include <encdec/engine/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "color_map.h"
#include "image_canvas.h"
#include "token_text.h"

namespace encdec::cli {
namespace {

// Pixels.
constexpr int kMargin = 24;
constexpr int kGap = 24;      // between maps, and between what belongs together and what does not
constexpr int kLabelGap = 6;  // between a map and its labels
constexpr Font kTitle = {20, Font::Weight::bold};
constexpr Font kCaption = {14, Font::Weight::normal};
constexpr int kMinWidth = 360;       // of the titles and the scale
constexpr int kMaxLabelLength = 10;  // in sizes of the font
constexpr int kTitleHeight = 32;
constexpr int kCaptionHeight = 24;
constexpr int kScaleCell = 12, kScaleCells = 16;
// Sizes of cells to choose from: one map may have the largest, tokens need the smallest readable one.
constexpr int kCells[] = {32, 28, 24, 20, 16, 14, 12, 10, 8, 6, 5, 4, 3, 2, 1};
constexpr int kLargestGridCell = 16, kSmallestReadableCell = 10;
constexpr int kMaxPixels = 64 << 20;         // 256 MiB
constexpr int kMaxReadableSide = 6000;       // larger, and the cells are made smaller as long as one can read
constexpr std::size_t kMaxTokenBytes = 256;  // more is never seen

std::string short_token(const std::string& token) {
  return visible(std::string_view(token).substr(0, kMaxTokenBytes));
}

// One kind of attention, and the widths of its texts at the size of captions.
struct Measured {
  const LabelledAttention* attention = nullptr;
  double query = 0, key = 0, caption = 0;  // the widest of them
};

// The maps of one kind of attention, and where they lie, in pixels.
struct Section {
  const LabelledAttention* attention = nullptr;
  int columns = 1, rows = 1;                // of maps
  double query_length = 0, key_length = 0;  // of labels, with the space to the map; 0 if there are none
  double map_width = 0, map_height = 0;
  double column_width = 0;       // of a map and its caption
  double width = 0, height = 0;  // of all

  std::size_t maps() const { return attention->layers.size() * attention->heads.size(); }
};

Font label_font(int cell) {
  return {std::min(cell * 0.75, 16.0), Font::Weight::normal};
}

std::string caption_of(const LabelledAttention& attention, std::size_t map) {
  return map_name(attention, map / attention.heads.size(), map % attention.heads.size());
}

// One layer's heads, or one head's layers, fill lines like words.
int columns_of(const LabelledAttention& attention) {
  if (attention.layers.size() > 1 && attention.heads.size() > 1) return static_cast<int>(attention.heads.size());
  const std::size_t maps = attention.layers.size() * attention.heads.size();
  return static_cast<int>(std::ceil(std::sqrt(static_cast<double>(maps))));
}

Measured measure(const LabelledAttention& attention, const TextSetter& setter) {
  const auto widest = [&](const std::vector<std::string>& tokens) {
    double width = 0;
    for (const std::string& token : tokens) width = std::max(width, setter.width(short_token(token), kCaption));
    return width;
  };
  Measured measured{&attention, widest(attention.queries), widest(attention.keys)};
  for (std::size_t map = 0; map < attention.layers.size() * attention.heads.size(); ++map) {
    measured.caption = std::max(measured.caption, setter.width(caption_of(attention, map), kCaption));
  }
  return measured;
}

// Text grows with its font, which has no hints.
double label_length(double measured, int cell) {
  if (cell < kSmallestReadableCell) return 0;
  const double size = label_font(cell).size;
  return std::ceil(std::min(measured * size / kCaption.size, kMaxLabelLength * size)) + 1 + kLabelGap;
}

Section place(const Measured& measured, int cell) {
  Section section;
  const LabelledAttention& attention = *measured.attention;
  section.attention = &attention;
  section.columns = columns_of(attention);
  section.rows = (static_cast<int>(section.maps()) + section.columns - 1) / section.columns;
  section.query_length = label_length(measured.query, cell);
  section.key_length = label_length(measured.key, cell);
  section.map_width = static_cast<double>(attention.keys.size()) * cell;
  section.map_height = static_cast<double>(attention.queries.size()) * cell;
  section.column_width = std::max(section.map_width, std::ceil(measured.caption) + 1);
  const int columns = section.columns, rows = section.rows;
  section.width = section.query_length + columns * section.column_width + (columns - 1) * kGap;
  section.height = kTitleHeight + section.key_length + rows * (kCaptionHeight + section.map_height) + (rows - 1) * kGap;
  return section;
}

struct Picture {
  int cell = 0;
  std::vector<Section> sections;
  double width = 0, height = 0;

  bool fits() const {
    const int side = cell > kSmallestReadableCell ? kMaxReadableSide : ImageCanvas::kMaxSide;
    return width <= side && height <= side && width * height <= kMaxPixels;
  }
};

Picture arrange(std::span<const Measured> measured, int cell) {
  Picture picture;
  picture.cell = cell;
  picture.width = kMinWidth;
  picture.height = 2 * kMargin + kCaptionHeight;
  for (const Measured& one : measured) {
    picture.sections.push_back(place(one, cell));
    picture.width = std::max(picture.width, picture.sections.back().width);
    picture.height += picture.sections.back().height + kGap;
  }
  picture.width += 2 * kMargin;
  return picture;
}

Picture arrange(std::span<const LabelledAttention> attentions, const TextSetter& setter) {
  std::vector<Measured> measured;
  for (const LabelledAttention& attention : attentions) measured.push_back(measure(attention, setter));
  const bool one_map = attentions.size() == 1 && attentions[0].layers.size() * attentions[0].heads.size() == 1;
  Picture picture;
  for (const int cell : kCells) {
    if (!one_map && cell > kLargestGridCell) continue;
    picture = arrange(measured, cell);
    if (picture.fits()) return picture;
  }
  throw InputError(fmt::format("image: {} x {} pixels, expected at most {} a side and {} in all", picture.width,
                               picture.height, ImageCanvas::kMaxSide, kMaxPixels));
}

// Draws sections on a canvas, one below the other.
class Painter {
 public:
  Painter(const Picture& picture, const TextSetter& setter, float largest)
      : setter_(setter),
        canvas_(static_cast<int>(picture.width), static_cast<int>(picture.height)),
        cell_(picture.cell),
        width_(picture.width - 2 * kMargin),
        largest_(largest) {}

  void draw(const Section& section) {
    canvas_.draw(setter_, std::string(to_string(section.attention->map.kind)), kTitle,
                 {{kMargin, y_}, width_, kTitleHeight});
    y_ += kTitleHeight;
    for (int row = 0; row < section.rows; ++row) {
      const double top = y_ + kCaptionHeight + (row == 0 ? section.key_length : 0);
      for (int column = 0; column < section.columns; ++column) draw_map(section, row, column, top);
      if (section.query_length > 0) draw_queries(section, top);
      y_ = top + section.map_height + kGap;
    }
  }

  void draw_scale() {
    std::vector<Color> colors(kScaleCells);
    for (std::size_t i = 0; i < kScaleCells; ++i) {
      colors[i] = color_of(ColorMap::blues, static_cast<double>(i) / (kScaleCells - 1));
    }
    const double name = std::ceil(setter_.width("weight 0", kCaption)) + 1;
    const double x = kMargin + name + kLabelGap, top = y_ + (kCaptionHeight - kScaleCell) / 2.0;
    canvas_.draw(setter_, "weight 0", kCaption, {{kMargin, y_}, name, kCaptionHeight});
    canvas_.draw_cells({x, top}, kScaleCell, colors, kScaleCells);
    canvas_.draw_frame({x, top}, kScaleCells * kScaleCell, kScaleCell);
    canvas_.draw(setter_, fmt::format("{:.2g}", largest_), kCaption,
                 {{x + kScaleCells * kScaleCell + kLabelGap, y_}, 80, kCaptionHeight});
  }

  std::string png() const { return canvas_.png(); }

 private:
  void draw_map(const Section& section, int row, int column, double top) {
    const LabelledAttention& attention = *section.attention;
    const auto map = static_cast<std::size_t>(std::int64_t{row} * section.columns + column);
    if (map >= section.maps()) return;
    const double left = kMargin + section.query_length + column * (section.column_width + kGap);
    canvas_.draw(setter_, caption_of(attention, map), kCaption, {{left, y_}, section.column_width, kCaptionHeight});
    std::vector<Color> colors;
    colors.reserve(attention.queries.size() * attention.keys.size());
    for (const float weight : weights_of(attention, map / attention.heads.size(), map % attention.heads.size())) {
      colors.push_back(color_of(ColorMap::blues, largest_ > 0 ? weight / largest_ : 0));
    }
    const int keys = static_cast<int>(attention.keys.size()), queries = static_cast<int>(attention.queries.size());
    canvas_.draw_cells({left, top}, cell_, colors, keys);
    if (cell_ >= kSmallestReadableCell) canvas_.draw_grid({left, top}, {keys, queries, cell_});
    canvas_.draw_frame({left, top}, section.map_width, section.map_height);
    if (row == 0 && section.key_length > 0) draw_keys(section, left, top);
  }

  void draw_keys(const Section& section, double left, double top) {
    for (const std::string& key : section.attention->keys) {
      const double length = section.key_length - kLabelGap, height = cell_;
      canvas_.draw(setter_, short_token(key), label_font(cell_),
                   {{left, top - kLabelGap}, length, height, ImageCanvas::Align::start, ImageCanvas::Direction::up});
      left += cell_;
    }
  }

  void draw_queries(const Section& section, double top) {
    for (const std::string& query : section.attention->queries) {
      const double length = section.query_length - kLabelGap, height = cell_;
      canvas_.draw(setter_, short_token(query), label_font(cell_),
                   {{kMargin, top}, length, height, ImageCanvas::Align::end});
      top += cell_;
    }
  }

  const TextSetter& setter_;
  ImageCanvas canvas_;
  int cell_;
  double width_;
  float largest_;
  double y_ = kMargin;
};

}  // namespace

std::string draw_png(std::span<const LabelledAttention> attentions) {
  if (attentions.empty()) throw InputError("image: no attention, expected one kind at least");
  float largest = 0;
  for (const LabelledAttention& attention : attentions) {
    check(attention);
    largest = std::max(largest, largest_weight(attention));
  }
  const TextSetter setter;
  const Picture picture = arrange(attentions, setter);
  Painter painter(picture, setter, largest);
  for (const Section& section : picture.sections) painter.draw(section);
  painter.draw_scale();
  return painter.png();
}

bool can_draw_png() {
  return true;
}

}  // namespace encdec::cli
