#pragma once

#include <encdec/engine/base/error.h>
#include <fmt/format.h>
#include <pango/pangocairo.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <numbers>
#include <span>
#include <string>
#include <string_view>

#include "attention/color_map.h"

// The drawing primitives of image.cc. Only this file uses cairo and Pango.
namespace encdec::cli {

template <auto free>
struct FreeWith {
  void operator()(auto* object) const { free(object); }
};
template <class Object, auto free>
using Owned = std::unique_ptr<Object, FreeWith<free>>;

using Layout = Owned<PangoLayout, g_object_unref>;

inline constexpr double kHalf = 0.5;  // offset to the middle of a pixel: a line there covers one row of pixels, not two

struct Font {
  double size;
  PangoWeight weight = PANGO_WEIGHT_NORMAL;
};

struct Point {
  double x, y;
};

// A box for a line of text. Text is shortened to the length of the box, and centred in its height.
struct TextBox {
  // line: begins at the left. at_end: ends at the right. upwards: runs from the bottom to the top.
  enum class Form : std::uint8_t { line, at_end, upwards };

  Point corner;  // top left corner; bottom left for Form::upwards
  double length, height;
  Form form = Form::line;
};

// Turns off the messages of Pango and GLib about text that they cannot show properly.
inline void be_quiet() {
  constexpr auto kMessages = static_cast<GLogLevelFlags>(G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL);
  const auto ignore = [](const char*, GLogLevelFlags, const char*, gpointer) {};
  for (const char* domain : {"Pango", "GLib"}) g_log_set_handler(domain, kMessages, ignore, nullptr);
}

// Sets a pale colour for the bars (U+2581) that stand for spaces in sentencepiece, so that letters stand out.
inline void make_spaces_pale(PangoLayout* layout, const std::string& text) {
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

inline PangoRectangle extent_of(PangoLayout* layout) {
  PangoRectangle units;
  pango_layout_get_extents(layout, nullptr, &units);
  return units;
}

inline void check(cairo_status_t status, const std::string& expected = "an image") {
  if (status == CAIRO_STATUS_SUCCESS) return;
  throw BackendError(fmt::format("cairo: {}, expected {}", cairo_status_to_string(status), expected));
}

// Appends data to the string `png`. Called from C, so no exception may leave it.
inline cairo_status_t append(void* png, const unsigned char* data, unsigned int size) {
  try {
    static_cast<std::string*>(png)->append(reinterpret_cast<const char*>(data), size);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::bad_alloc&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
}

// A typesetter of lines of text in any script, with the fonts that fontconfig finds.
class TextSetter {
 public:
  // Throws FileError if there is no font.
  TextSetter() {
    be_quiet();
    // Without any font, Pango still has font families, but no glyphs.
    if (pango_layout_get_unknown_glyphs_count(layout("a", {.size = 14}).get()) > 0) {
      throw FileError("fontconfig: no font, expected at least one, such as those of Debian's fonts-dejavu-core");
    }
    // Does not use the desktop's options, so that a text has the same width on all machines and at every angle.
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

// An image in memory, initially white. x grows to the right, y downwards. All functions throw BackendError if cairo
// fails.
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
    // Clips to the box: a letter may carry any number of marks, which would cover the lines above and below.
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

  // Draws rows of `columns` squares, with sides of `size` pixels, inside a frame. Lines::pale adds faint lines between
  // the squares. REQUIRES: `corner`, the top left corner, has integer coordinates.
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

}  // namespace encdec::cli
