#include "encdec/models/network/frames.h"

#include <fmt/format.h>

#include <ranges>

namespace encdec {

Dim FrameOptions::rows_of(Dim frames) const {
  if (!reads_samples()) return frames % per_row == 0 ? frames / per_row : 0;
  for (const Window& window : windows) frames = window.outputs(frames);
  return frames;
}

Dim FrameOptions::frames_for(Dim rows) const {
  if (!reads_samples()) return rows * per_row;
  // Invert Window::outputs(), beginning with the last window.
  for (const auto& [kernel, stride] : windows | std::views::reverse) rows = (rows - 1) * stride + kernel;
  return rows;
}

std::string FrameOptions::expected_shape(Dim most_rows) const {
  // The largest number of frames is one less than the number that another row needs.
  const Dim largest = reads_samples() ? frames_for(most_rows + 1) - 1 : most_rows * per_row;
  const std::string most =
      most_rows > 0 ? fmt::format("{} to {}", frames_for(1), largest) : fmt::format("{} or more", frames_for(1));
  return reads_samples() ? fmt::format("[{}, {}]", most, width)
                         : fmt::format("[{}, a multiple of {}; {}]", most, per_row, width);
}

}  // namespace encdec
