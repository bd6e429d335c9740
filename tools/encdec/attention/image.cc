#include "image.h"

#include <encdec/engine/base/error.h>
#include <fmt/format.h>
#include <pango/pangocairo.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <numbers>
#include <utility>

#include "color_map.h"
#include "token_text.h"

namespace encdec::cli {
namespace {

template <auto free>
struct FreeWith {
  void operator()(auto* object) const { free(object); }
};
template <class Object, auto free>
using Owned = std::unique_ptr<Object, FreeWith<free>>;

using Layout = Owned<PangoLayout, g_object_unref>;

// Pixels.
constexpr int kMargin = 24;
constexpr int kGap = 24;             // between maps, and between what belongs together and what does not
constexpr int kLabelGap = 6;         // between a map and its labels
constexpr int kMinWidth = 360;       // of the titles and the scale
constexpr int kMaxLabelLength = 10;  // in sizes of the font
constexpr int kTitleHeight = 32;
constexpr int kCaptionHeight = 24;
constexpr int kScaleCell = 12, kScaleCells = 16;
// Sizes of cells to choose from: one map may have the largest, tokens need the smallest readable one.
constexpr int kCells[] = {32, 28, 24, 20, 16, 14, 12, 10, 8, 6, 5, 4, 3, 2, 1};
constexpr int kLargestGridCell = 16, kSmallestReadableCell = 10;
constexpr int kMaxSide = 32767;              // cairo's
constexpr int kMaxPixels = 64 << 20;         // 256 MiB
constexpr int kMaxReadableSide = 6000;       // larger, and the cells are made smaller as long as one can read
constexpr std::size_t kMaxTokenBytes = 256;  // more is never seen
constexpr double kHalf = 0.5;                // off the border of pixels: a line of one pixel, not of two halves

struct Font {
  double size;
  PangoWeight weight = PANGO_WEIGHT_NORMAL;
};
constexpr Font kTitle = {20, PANGO_WEIGHT_BOLD};
constexpr Font kCaption = {14};

struct Point {
  double x, y;
};

// Where a line of text stands: shortened if it is too wide, in the middle of its height.
struct TextBox {
  enum class Form : std::uint8_t { line, at_end, upwards };

  Point corner;  // left and top of the box; of text that runs upwards, left and bottom
  double length, height;
  Form form = Form::line;
};

// Text that cannot be shown well is shown badly: that is no reason for messages.
void be_quiet() {
  constexpr auto kMessages = static_cast<GLogLevelFlags>(G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL);
  const auto ignore = [](const char*, GLogLevelFlags, const char*, gpointer) {};
  for (const char* domain : {"Pango", "GLib"}) g_log_set_handler(domain, kMessages, ignore, nullptr);
}

// The bars by which sentencepiece writes spaces must not outshine the letters.
void make_spaces_pale(PangoLayout* layout, const std::string& text) {
  constexpr std::string_view kSpace = "▁";
  constexpr guint16 kPale = 0xB400;
  PangoAttrList* attributes = pango_attr_list_new();
  for (std::size_t at = text.find(kSpace); at != std::string::npos; at = text.find(kSpace, at + kSpace.size())) {
    PangoAttribute* attribute = pango_attr_foreground_new(kPale, kPale, kPale);
    attribute->start_index = static_cast<guint>(at);
    attribute->end_index = static_cast<guint>(at + kSpace.size());
    pango_attr_list_insert(attributes, attribute);
  }
  pango_layout_set_attributes(layout, attributes);
  pango_attr_list_unref(attributes);
}

PangoRectangle extent_of(PangoLayout* layout) {
  PangoRectangle units;
  pango_layout_get_extents(layout, nullptr, &units);
  return units;
}

void check(cairo_status_t status, const std::string& expected = "an image") {
  if (status == CAIRO_STATUS_SUCCESS) return;
  throw BackendError(fmt::format("cairo: {}, expected {}", cairo_status_to_string(status), expected));
}

// Called from C, which exceptions must not pass.
cairo_status_t append(void* png, const unsigned char* data, unsigned int size) {
  try {
    static_cast<std::string*>(png)->append(reinterpret_cast<const char*>(data), size);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::bad_alloc&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
}

// Sets lines of text in any script, with the fonts that fontconfig knows.
class TextSetter {
 public:
  // Throws FileError if there is no font.
  TextSetter() {
    be_quiet();
    // Without any font there are families all the same, but no letters.
    if (pango_layout_get_unknown_glyphs_count(layout("a", kCaption).get()) > 0) {
      throw FileError("fontconfig: no font, expected at least one, such as those of Debian's fonts-dejavu-core");
    }
    // Not those of the desktop, if there is one: the same text is as wide everywhere, at every angle.
    const Owned<cairo_font_options_t, cairo_font_options_destroy> options(cairo_font_options_create());
    cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
    pango_cairo_context_set_font_options(context_.get(), options.get());
  }

  Layout layout(const std::string& text, const Font& font) const {
    const Owned<PangoFontDescription, pango_font_description_free> description(pango_font_description_new());
    pango_font_description_set_family(description.get(), "Sans");
    pango_font_description_set_absolute_size(description.get(), font.size * PANGO_SCALE);
    pango_font_description_set_weight(description.get(), font.weight);
    Layout layout(pango_layout_new(context_.get()));
    pango_layout_set_font_description(layout.get(), description.get());
    pango_layout_set_single_paragraph_mode(layout.get(), TRUE);
    pango_layout_set_text(layout.get(), text.data(), static_cast<int>(text.size()));
    make_spaces_pale(layout.get(), text);
    return layout;
  }

  double width(const std::string& text, const Font& font) const {
    return pango_units_to_double(extent_of(layout(text, font).get()).width);
  }

 private:
  Owned<PangoFontMap, g_object_unref> map_{pango_cairo_font_map_new()};
  Owned<PangoContext, g_object_unref> context_{pango_font_map_create_context(map_.get())};
};

// An image in memory, white at first, x to the right and y down. Throws BackendError where cairo fails.
class Canvas {
 public:
  Canvas(int width, int height) : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height)) {
    check(cairo_status(context_.get()), fmt::format("an image of {} x {} pixels", width, height));
    cairo_set_source_rgb(context_.get(), 1, 1, 1);
    cairo_paint(context_.get());
  }

  void draw(const TextSetter& setter, const std::string& text, const Font& font, const TextBox& box) {
    cairo_t* context = context_.get();
    cairo_save(context);
    cairo_translate(context, box.corner.x, box.corner.y);
    if (box.form == TextBox::Form::upwards) cairo_rotate(context, -std::numbers::pi / 2);
    const Layout layout = setter.layout(text, font);
    if (pango_units_to_double(extent_of(layout.get()).width) > box.length) {
      pango_layout_set_width(layout.get(), static_cast<int>(box.length * PANGO_SCALE));
      pango_layout_set_ellipsize(layout.get(), PANGO_ELLIPSIZE_END);
    }
    // Letters may carry marks without end: the line below stays free.
    cairo_rectangle(context, 0, 0, box.length, box.height);
    cairo_clip(context);
    const PangoRectangle extent = extent_of(layout.get());
    const double space = box.form == TextBox::Form::at_end ? box.length - pango_units_to_double(extent.width) : 0;
    cairo_move_to(context, space - pango_units_to_double(extent.x),
                  (box.height - pango_units_to_double(extent.height)) / 2);
    cairo_set_source_rgb(context, 0.13, 0.13, 0.13);
    pango_cairo_show_layout(context, layout.get());
    cairo_restore(context);
    check(cairo_status(context));
  }

  enum class Lines : std::uint8_t { none, pale };

  // Squares with sides of `size` pixels in rows of `columns`, in a visible frame, perhaps with hardly visible lines
  // between them. Their corner has whole numbers.
  void draw(Point corner, std::span<const Color> colors, int columns, int size, Lines lines) {
    const int rows = static_cast<int>(colors.size()) / columns, width = columns * size, height = rows * size;
    cairo_t* context = context_.get();
    cairo_surface_flush(surface_.get());
    const auto width_in_cells = static_cast<std::size_t>(columns);
    for (int y = 0; y < height; ++y) {
      std::uint32_t* pixel = pixels(static_cast<int>(corner.x), static_cast<int>(corner.y) + y);
      for (const Color& color : colors.subspan(static_cast<std::size_t>(y / size) * width_in_cells, width_in_cells)) {
        pixel = std::fill_n(pixel, size, color.red << 16 | color.green << 8 | color.blue);
      }
    }
    cairo_surface_mark_dirty(surface_.get());

    cairo_save(context);
    cairo_translate(context, corner.x, corner.y);
    cairo_set_line_width(context, 1);
    if (lines == Lines::pale) {
      for (int x = size; x < width; x += size) {
        cairo_move_to(context, x - kHalf, 0);
        cairo_rel_line_to(context, 0, height);
      }
      for (int y = size; y < height; y += size) {
        cairo_move_to(context, 0, y - kHalf);
        cairo_rel_line_to(context, width, 0);
      }
      cairo_set_source_rgba(context, 0, 0, 0, 0.06);
      cairo_stroke(context);
    }
    cairo_rectangle(context, -kHalf, -kHalf, width + 1, height + 1);
    cairo_set_source_rgb(context, 0.7, 0.7, 0.7);
    cairo_stroke(context);
    cairo_restore(context);
    check(cairo_status(context));
  }

  std::string png() const {
    std::string result;
    check(cairo_surface_write_to_png_stream(surface_.get(), append, &result));
    return result;
  }

 private:
  std::uint32_t* pixels(int x, int y) {
    unsigned char* row =
        cairo_image_surface_get_data(surface_.get()) + std::int64_t{y} * cairo_image_surface_get_stride(surface_.get());
    return reinterpret_cast<std::uint32_t*>(row) + x;
  }

  Owned<cairo_surface_t, cairo_surface_destroy> surface_;
  Owned<cairo_t, cairo_destroy> context_{cairo_create(surface_.get())};
};

// Texts of one kind, and the widest of them at the size of captions.
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

// One layer's heads, or one head's layers, fill lines like words.
int columns_of(const LabelledAttention& attention) {
  if (attention.layers.size() > 1 && attention.heads.size() > 1) return static_cast<int>(attention.heads.size());
  return static_cast<int>(std::ceil(std::sqrt(static_cast<double>(attention.maps()))));
}

Font label_font(double cell) {
  return {std::min(cell * 0.75, 16.0)};
}

// With the space to the map; 0 where there are none. Text grows with its font, which has no hints.
double label_length(const Labels& labels, int cell) {
  if (cell < kSmallestReadableCell) return 0;
  const double size = label_font(cell).size;
  return std::ceil(std::min(labels.width * size / kCaption.size, kMaxLabelLength * size)) + 1 + kLabelGap;
}

// The maps of one kind of attention, and where they lie, in pixels.
struct Section {
  const LabelledAttention& attention;
  Labels queries, keys, captions;
  int columns, rows;  // of maps
  double query_length = 0, key_length = 0, map_width = 0, map_height = 0;
  double column_width = 0;       // of a map and its caption
  double width = 0, height = 0;  // of all

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

// All sections, with the largest cells that fit.
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

// Draws a picture, section by section, one below the other.
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

  // `label` is the first one's, `step` the way to the next, in cells.
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
