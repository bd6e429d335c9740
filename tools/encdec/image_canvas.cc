#include "image_canvas.h"

#include <encdec/engine/error.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <new>
#include <numbers>

namespace encdec::cli {
namespace {

constexpr double kHalf = 0.5;  // off the border of pixels: a line of one pixel, not of two halves

struct Unref {
  void operator()(void* object) const { g_object_unref(object); }
};
struct FreeDescription {
  void operator()(PangoFontDescription* description) const { pango_font_description_free(description); }
};
struct FreeOptions {
  void operator()(cairo_font_options_t* options) const { cairo_font_options_destroy(options); }
};
struct FreePattern {
  void operator()(cairo_pattern_t* pattern) const { cairo_pattern_destroy(pattern); }
};
using Layout = std::unique_ptr<PangoLayout, Unref>;

void ignore(const char*, GLogLevelFlags, const char*, gpointer) {}

// Text that cannot be shown well is shown badly: that is no reason for messages.
void be_quiet() {
  constexpr auto kMessages = static_cast<GLogLevelFlags>(G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL);
  static const guint pango = g_log_set_handler("Pango", kMessages, ignore, nullptr);
  static const guint glib = g_log_set_handler("GLib", kMessages, ignore, nullptr);
  static_cast<void>(pango + glib);
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

Layout layout_of(PangoContext* context, const std::string& text, const Font& font) {
  const std::unique_ptr<PangoFontDescription, FreeDescription> description(pango_font_description_new());
  pango_font_description_set_family(description.get(), "Sans");
  pango_font_description_set_absolute_size(description.get(), font.size * PANGO_SCALE);
  const bool bold = font.weight == Font::Weight::bold;
  pango_font_description_set_weight(description.get(), bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  Layout layout(pango_layout_new(context));
  pango_layout_set_font_description(layout.get(), description.get());
  pango_layout_set_single_paragraph_mode(layout.get(), TRUE);
  pango_layout_set_text(layout.get(), text.data(), static_cast<int>(text.size()));
  make_spaces_pale(layout.get(), text);
  return layout;
}

// Without any font there are families all the same, but no letters.
bool has_fonts(PangoContext* context) {
  return pango_layout_get_unknown_glyphs_count(layout_of(context, "a", {}).get()) == 0;
}

struct Extent {
  double left, width, height;
};

Extent extent_of(PangoLayout* layout) {
  PangoRectangle rectangle;
  pango_layout_get_extents(layout, nullptr, &rectangle);
  const auto pixels = [](int units) { return static_cast<double>(units) / PANGO_SCALE; };
  return {pixels(rectangle.x), pixels(rectangle.width), pixels(rectangle.height)};
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

}  // namespace

void TextSetter::Free::operator()(PangoContext* context) const {
  g_object_unref(context);
}

TextSetter::TextSetter() {
  be_quiet();
  const std::unique_ptr<PangoFontMap, Unref> map(pango_cairo_font_map_new());
  context_.reset(pango_font_map_create_context(map.get()));
  if (!has_fonts(context_.get())) {
    throw FileError("fontconfig: no font, expected at least one, such as those of Debian's fonts-dejavu-core");
  }
  // Not those of the desktop, if there is one: the same text is as wide everywhere, at every angle.
  const std::unique_ptr<cairo_font_options_t, FreeOptions> options(cairo_font_options_create());
  cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
  pango_cairo_context_set_font_options(context_.get(), options.get());
}

double TextSetter::width(const std::string& text, const Font& font) const {
  return extent_of(layout_of(context_.get(), text, font).get()).width;
}

void ImageCanvas::Free::operator()(cairo_t* context) const {
  cairo_destroy(context);
}

void ImageCanvas::Free::operator()(cairo_surface_t* surface) const {
  cairo_surface_destroy(surface);
}

ImageCanvas::Surface ImageCanvas::create(int width, int height) {
  Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height));
  if (const auto status = cairo_surface_status(surface.get()); status != CAIRO_STATUS_SUCCESS) {
    throw BackendError(
        fmt::format("cairo: {}, expected an image of {} x {} pixels", cairo_status_to_string(status), width, height));
  }
  return surface;
}

ImageCanvas::ImageCanvas(int width, int height)
    : surface_(create(width, height)), context_(cairo_create(surface_.get())) {
  check(cairo_status(context_.get()));
  cairo_set_source_rgb(context_.get(), 1, 1, 1);
  cairo_paint(context_.get());
}

void ImageCanvas::check(int status) const {
  if (status == CAIRO_STATUS_SUCCESS) return;
  throw BackendError(
      fmt::format("cairo: {}, expected an image", cairo_status_to_string(static_cast<cairo_status_t>(status))));
}

void ImageCanvas::draw(const TextSetter& setter, const std::string& text, const Font& font, const TextBox& box) {
  cairo_t* context = context_.get();
  cairo_save(context);
  cairo_translate(context, box.corner.x, box.corner.y);
  if (box.direction == Direction::up) cairo_rotate(context, -std::numbers::pi / 2);
  const Layout layout = layout_of(setter.context_.get(), text, font);
  if (extent_of(layout.get()).width > box.length) {
    pango_layout_set_width(layout.get(), static_cast<int>(box.length * PANGO_SCALE));
    pango_layout_set_ellipsize(layout.get(), PANGO_ELLIPSIZE_END);
  }
  // Letters may carry marks without end: the line below stays free.
  cairo_rectangle(context, 0, 0, box.length, box.height);
  cairo_clip(context);
  const Extent extent = extent_of(layout.get());
  const double space = box.align == Align::end ? box.length - extent.width : 0;
  cairo_move_to(context, space - extent.left, (box.height - extent.height) / 2);
  cairo_set_source_rgb(context, 0.13, 0.13, 0.13);
  pango_cairo_show_layout(context, layout.get());
  cairo_restore(context);
  check(cairo_status(context));
}

void ImageCanvas::draw_cells(Point corner, int cell, std::span<const Color> colors, int columns) {
  const int rows = static_cast<int>(colors.size()) / columns;
  const Surface cells = create(columns, rows);
  unsigned char* data = cairo_image_surface_get_data(cells.get());
  const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(cells.get()));
  for (std::size_t i = 0; i < colors.size(); ++i) {
    const std::uint32_t pixel = static_cast<std::uint32_t>(colors[i].red << 16 | colors[i].green << 8 | colors[i].blue);
    const auto width = static_cast<std::size_t>(columns);
    std::memcpy(data + i / width * stride + i % width * sizeof pixel, &pixel, sizeof pixel);
  }
  cairo_surface_mark_dirty(cells.get());
  cairo_t* context = context_.get();
  cairo_save(context);
  cairo_translate(context, corner.x, corner.y);
  cairo_rectangle(context, 0, 0, columns * cell, rows * cell);
  cairo_clip(context);
  cairo_scale(context, cell, cell);
  const std::unique_ptr<cairo_pattern_t, FreePattern> pattern(cairo_pattern_create_for_surface(cells.get()));
  cairo_pattern_set_filter(pattern.get(), CAIRO_FILTER_NEAREST);
  cairo_set_source(context, pattern.get());
  cairo_paint(context);
  cairo_restore(context);
  check(cairo_status(context));
}

void ImageCanvas::draw_grid(Point corner, const Grid& grid) {
  cairo_t* context = context_.get();
  for (int column = 1; column < grid.columns; ++column) {
    cairo_move_to(context, corner.x + column * grid.cell - kHalf, corner.y);
    cairo_rel_line_to(context, 0, grid.rows * grid.cell);
  }
  for (int row = 1; row < grid.rows; ++row) {
    cairo_move_to(context, corner.x, corner.y + row * grid.cell - kHalf);
    cairo_rel_line_to(context, grid.columns * grid.cell, 0);
  }
  cairo_set_line_width(context, 1);
  cairo_set_source_rgba(context, 0, 0, 0, 0.06);
  cairo_stroke(context);
  check(cairo_status(context));
}

void ImageCanvas::draw_frame(Point corner, double width, double height) {
  cairo_t* context = context_.get();
  cairo_rectangle(context, corner.x - kHalf, corner.y - kHalf, width + 1, height + 1);
  cairo_set_line_width(context, 1);
  cairo_set_source_rgb(context, 0.7, 0.7, 0.7);
  cairo_stroke(context);
  check(cairo_status(context));
}

std::string ImageCanvas::png() const {
  std::string result;
  check(cairo_surface_write_to_png_stream(surface_.get(), append, &result));
  return result;
}

}  // namespace encdec::cli
