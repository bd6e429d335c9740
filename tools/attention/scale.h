#pragma once

#include <cstdint>
#include <string>

// The scale of weights in all drawings: their colours, and how their numbers are written.
namespace encdec::cli {

struct Color {
  std::uint8_t red, green, blue;

  friend bool operator==(const Color& a, const Color& b) = default;
};

// Number of colours. They go from white to dark blue in steps that look equal.
inline constexpr int kColors = 65;

// Returns the number of the colour of a weight: 0 for a weight of 0, kColors - 1 for the largest weight.
int color_number(float weight, float largest);
// REQUIRES: `number` is from 0 to kColors - 1.
Color color_of(int number);

// Returns up to three significant digits: "0.75", "0.0123".
std::string weight_text(float weight);

}  // namespace encdec::cli
