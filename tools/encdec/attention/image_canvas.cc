#include "image_canvas.h"

#include <encdec/engine/base/error.h>
#include <fmt/format.h>
#include <pango/pangocairo.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <numbers>

namespace encdec::cli {

template <auto free>
struct FreeWith {
  void operator()(auto* object) const { free(object); }
};
template <class Object, auto free>
using Owned = std::unique_ptr<Object, FreeWith<free>>;

using Layout = Owned<PangoLayout, g_object_unref>;
using Surface = Owned<cairo_surface_t, cairo_surface_destroy>;

namespace {

constexpr double kHalf = 0.5;  // off the border of pixels: a line of one pixel, not of two halves

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
  const Owned<PangoFontDescription, pango_font_description_free> description(pango_font_description_new());
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

void check(cairo_status_t status, const std::string& expected = "an image") {
  if (status == CAIRO_STATUS_SUCCESS) return;
  throw BackendError(fmt::format("cairo: {}, expected {}", cairo_status_to_string(status), expected));
}

Surface make_surface(int width, int height) {
  Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height));
  check(cairo_surface_status(surface.get()), fmt::format("an image of {} x {} pixels", width, height));
  return surface;
}

// A surface with a pixel for each cell.
Surface pixels_of(const Cells& cells) {
  const auto columns = static_cast<std::size_t>(cells.columns);
  Surface surface = make_surface(cells.columns, static_cast<int>(cells.colors.size() / columns));
  unsigned char* data = cairo_image_surface_get_data(surface.get());
  const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(surface.get()));
  for (std::size_t i = 0; i < cells.colors.size(); ++i) {
    const auto [red, green, blue] = cells.colors[i];
    const auto pixel = static_cast<std::uint32_t>(red << 16 | green << 8 | blue);
    std::memcpy(data + i / columns * stride + i % columns * sizeof pixel, &pixel, sizeof pixel);
  }
  cairo_surface_mark_dirty(surface.get());
  return surface;
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

struct TextSetter::State {
  Owned<PangoFontMap, g_object_unref> map{pango_cairo_font_map_new()};
  Owned<PangoContext, g_object_unref> context{pango_font_map_create_context(map.get())};
};

TextSetter::TextSetter() {
  be_quiet();
  state_ = std::make_shared<const State>();
  PangoContext* context = state_->context.get();
  if (!has_fonts(context)) {
    throw FileError("fontconfig: no font, expected at least one, such as those of Debian's fonts-dejavu-core");
  }
  // Not those of the desktop, if there is one: the same text is as wide everywhere, at every angle.
  const Owned<cairo_font_options_t, cairo_font_options_destroy> options(cairo_font_options_create());
  cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
  pango_cairo_context_set_font_options(context, options.get());
}

double TextSetter::width(const std::string& text, const Font& font) const {
  return extent_of(layout_of(state_->context.get(), text, font).get()).width;
}

struct ImageCanvas::State {
  Surface surface;
  Owned<cairo_t, cairo_destroy> context{cairo_create(surface.get())};
};

ImageCanvas::ImageCanvas(int width, int height) : state_(new State{make_surface(width, height)}) {
  cairo_t* context = state_->context.get();
  check(cairo_status(context));
  cairo_set_source_rgb(context, 1, 1, 1);
  cairo_paint(context);
}

void ImageCanvas::draw(const TextSetter& setter, const std::string& text, const Font& font, const TextBox& box) {
  cairo_t* context = state_->context.get();
  cairo_save(context);
  cairo_translate(context, box.corner.x, box.corner.y);
  if (box.direction == TextBox::Direction::up) cairo_rotate(context, -std::numbers::pi / 2);
  const Layout layout = layout_of(setter.state_->context.get(), text, font);
  if (extent_of(layout.get()).width > box.length) {
    pango_layout_set_width(layout.get(), static_cast<int>(box.length * PANGO_SCALE));
    pango_layout_set_ellipsize(layout.get(), PANGO_ELLIPSIZE_END);
  }
  // Letters may carry marks without end: the line below stays free.
  cairo_rectangle(context, 0, 0, box.length, box.height);
  cairo_clip(context);
  const Extent extent = extent_of(layout.get());
  const double space = box.align == TextBox::Align::end ? box.length - extent.width : 0;
  cairo_move_to(context, space - extent.left, (box.height - extent.height) / 2);
  cairo_set_source_rgb(context, 0.13, 0.13, 0.13);
  pango_cairo_show_layout(context, layout.get());
  cairo_restore(context);
  check(cairo_status(context));
}

void ImageCanvas::draw(Point corner, const Cells& cells) {
  cairo_t* context = state_->context.get();
  const Surface pixels = pixels_of(cells);
  const int width = cells.columns * cells.size;
  const int height = cairo_image_surface_get_height(pixels.get()) * cells.size;
  cairo_save(context);
  cairo_translate(context, corner.x, corner.y);
  cairo_save(context);
  cairo_rectangle(context, 0, 0, width, height);
  cairo_clip(context);
  cairo_scale(context, cells.size, cells.size);
  const Owned<cairo_pattern_t, cairo_pattern_destroy> pattern(cairo_pattern_create_for_surface(pixels.get()));
  cairo_pattern_set_filter(pattern.get(), CAIRO_FILTER_NEAREST);
  cairo_set_source(context, pattern.get());
  cairo_paint(context);
  cairo_restore(context);

  cairo_set_line_width(context, 1);
  if (cells.lines == Cells::Lines::pale) {
    for (int x = cells.size; x < width; x += cells.size) {
      cairo_move_to(context, x - kHalf, 0);
      cairo_rel_line_to(context, 0, height);
    }
    for (int y = cells.size; y < height; y += cells.size) {
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

std::string ImageCanvas::png() const {
  std::string result;
  check(cairo_surface_write_to_png_stream(state_->surface.get(), append, &result));
  return result;
}

}  // namespace encdec::cli
