#include "attention/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

namespace encdec::cli {
namespace {

// Colours at evenly spaced numbers. Colours between them are interpolated. Lightness decreases evenly in OKLab.
constexpr Color kBlues[] = {{255, 255, 255}, {188, 233, 255}, {135, 207, 254}, {89, 179, 241}, {49, 150, 221},
                            {10, 122, 197},  {0, 94, 167},    {0, 67, 135},    {0, 43, 100}};
constexpr int kSteps = (kColors - 1) / (static_cast<int>(std::size(kBlues)) - 1);  // from one colour to the next

std::uint8_t mix(std::uint8_t low, std::uint8_t high, int step) {
  return static_cast<std::uint8_t>(std::lround(low + (high - low) * static_cast<double>(step) / kSteps));
}

}  // namespace

int color_number(float weight, float largest) {
  if (largest <= 0) return 0;
  return static_cast<int>(std::lround(std::clamp(weight / largest, 0.0F, 1.0F) * (kColors - 1)));
}

Color color_of(int number) {
  const auto below = static_cast<std::size_t>(std::min(number, kColors - 2) / kSteps);
  const int step = number - static_cast<int>(below) * kSteps;
  const Color low = kBlues[below], high = kBlues[below + 1];
  return {mix(low.red, high.red, step), mix(low.green, high.green, step), mix(low.blue, high.blue, step)};
}

std::string weight_text(float weight) {
  return fmt::format("{:.3g}", weight);
}

}  // namespace encdec::cli
