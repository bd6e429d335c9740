#pragma once

#include <cstdint>

namespace encdec::cli {

struct Color {
  std::uint8_t red, green, blue;

  friend bool operator==(const Color& a, const Color& b) = default;
};

// Colours for numbers from 0 to 1, in which equal steps look equal and which people who see fewer colours can read too.
enum class ColorMap : std::uint8_t {
  viridis,  // dark violet to yellow: on a terminal of any background (the map of matplotlib)
  blues,    // white to dark blue: on paper
};

// `value` is cut to 0..1.
Color color_of(ColorMap map, double value);

}  // namespace encdec::cli
