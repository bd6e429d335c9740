#pragma once

#include <cstdint>

namespace encdec::cli {

struct Color {
  std::uint8_t red, green, blue;

  friend bool operator==(const Color& a, const Color& b) = default;
};

// Colours for numbers from 0 to 1. Equal steps look equal, and the maps are readable without full colour vision.
enum class ColorMap : std::uint8_t {
  viridis,  // dark violet to yellow, as in matplotlib: for terminals with any background
  blues,    // white to dark blue: for a white background
};

// Returns the colour of `value`, clamped to 0..1.
Color color_of(ColorMap map, double value);

}  // namespace encdec::cli
