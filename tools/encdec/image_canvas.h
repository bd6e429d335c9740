#pragma once

#include <pango/pangocairo.h>

#include <memory>
#include <span>
#include <string>

#include "color_map.h"

namespace encdec::cli {

struct Font {
  enum class Weight : std::uint8_t { normal, bold };

  double size = 12;  // pixels
  Weight weight = Weight::normal;
};

struct Point {
  double x, y;
};

// Sets lines of text in any script, with the fonts that fontconfig knows.
class TextSetter {
 public:
  // Throws FileError if there is no font.
  TextSetter();

  // Pixels from the start of a line to its end.
  double width(const std::string& text, const Font& font) const;

 private:
  friend class ImageCanvas;
  struct Free {
    void operator()(PangoContext* context) const;
  };
  std::unique_ptr<PangoContext, Free> context_;
};

// An image in memory, white at first, x to the right and y down. Throws BackendError where cairo fails.
class ImageCanvas {
 public:
  static constexpr int kMaxSide = 32767;  // pixels: of cairo

  ImageCanvas(int width, int height);

  // Text of one line in a box: shortened if it is too wide, at the box's start or end, in the middle of its height.
  enum class Align : std::uint8_t { start, end };
  enum class Direction : std::uint8_t { right, up };
  struct TextBox {
    Point corner;  // left and top of the box; of text that runs upwards, left and bottom
    double length, height;
    Align align = Align::start;
    Direction direction = Direction::right;
  };
  void draw(const TextSetter& setter, const std::string& text, const Font& font, const TextBox& box);

  // Rows of `columns` squares, each `cell` pixels wide.
  void draw_cells(Point corner, int cell, std::span<const Color> colors, int columns);
  // Hardly visible lines between such cells, and a visible one around them.
  struct Grid {
    int columns, rows, cell;
  };
  void draw_grid(Point corner, const Grid& grid);
  void draw_frame(Point corner, double width, double height);

  std::string png() const;

 private:
  struct Free {
    void operator()(cairo_t* context) const;
    void operator()(cairo_surface_t* surface) const;
  };
  using Surface = std::unique_ptr<cairo_surface_t, Free>;

  static Surface create(int width, int height);
  void check(int status) const;

  Surface surface_;
  std::unique_ptr<cairo_t, Free> context_;
};

}  // namespace encdec::cli
