#include "attention/color_map.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace encdec::cli {
namespace {

// Colours at evenly spaced numbers from 0 to 1. Colours between them are interpolated.
constexpr Color kViridis[] = {{68, 1, 84},    {72, 36, 117},  {65, 68, 135},  {53, 95, 141},
                              {42, 120, 142}, {33, 145, 140}, {34, 168, 132}, {68, 191, 112},
                              {122, 209, 81}, {189, 223, 38}, {253, 231, 37}};
// Lightness decreases evenly in OKLab.
constexpr Color kBlues[] = {{255, 255, 255}, {188, 233, 255}, {135, 207, 254}, {89, 179, 241}, {49, 150, 221},
                            {10, 122, 197},  {0, 94, 167},    {0, 67, 135},    {0, 43, 100}};

std::uint8_t mix(std::uint8_t low, std::uint8_t high, double part) {
  return static_cast<std::uint8_t>(std::lround(low + (high - low) * part));
}

}  // namespace

Color color_of(ColorMap map, double value) {
  const std::span<const Color> colors = map == ColorMap::viridis ? std::span<const Color>(kViridis) : kBlues;
  const double position = std::clamp(value, 0.0, 1.0) * static_cast<double>(colors.size() - 1);
  const std::size_t below = std::min(static_cast<std::size_t>(position), colors.size() - 2);
  const double part = position - static_cast<double>(below);
  const Color low = colors[below], high = colors[below + 1];
  return {mix(low.red, high.red, part), mix(low.green, high.green, part), mix(low.blue, high.blue, part)};
}

}  // namespace encdec::cli
