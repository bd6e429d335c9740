#pragma once

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

// Sets lines of text in any script, with the fonts that fontconfig knows.
class TextSetter {
 public:
  // Throws FileError if there is no font.
  TextSetter();

  // Pixels from the start of a line to its end.
  double width(const std::string& text, const Font& font) const;

 private:
  friend class ImageCanvas;
  struct State;
  std::shared_ptr<const State> state_;
};

struct Point {
  double x, y;
};

// Where a line of text stands: shortened if it is too wide, at the box's start or end, in the middle of its height.
struct TextBox {
  enum class Align : std::uint8_t { start, end };
  enum class Direction : std::uint8_t { right, up };

  Point corner;  // left and top of the box; of text that runs upwards, left and bottom
  double length, height;
  Align align = Align::start;
  Direction direction = Direction::right;
};

// Squares in rows of `columns`, in a visible frame.
struct Cells {
  enum class Lines : std::uint8_t { none, pale };

  std::span<const Color> colors;
  int columns;
  int size;                   // pixels of a side
  Lines lines = Lines::none;  // between squares, hardly visible
};

// An image in memory, white at first, x to the right and y down. Throws BackendError where cairo fails.
class ImageCanvas {
 public:
  static constexpr int kMaxSide = 32767;  // pixels: of cairo

  ImageCanvas(int width, int height);

  void draw(const TextSetter& setter, const std::string& text, const Font& font, const TextBox& box);
  void draw(Point corner, const Cells& cells);

  std::string png() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace encdec::cli
