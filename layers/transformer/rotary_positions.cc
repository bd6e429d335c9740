#include "encdec/layers/transformer/rotary_positions.h"

#include <fmt/format.h>

#include <cmath>

#include "encdec/engine/base/error.h"
#include "encdec/engine/row_sharing.h"

namespace encdec {

RotaryPositions::RotaryPositions(const RotaryOptions& options, Dim head_dim) {
  if (options.base == 0.0f) return;
  if (head_dim % 2 != 0)
    throw ShapeError(fmt::format("rotary positions for heads of {}, expected an even width", head_dim));
  for (Dim i = 0; i < head_dim / 2; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(head_dim);
    frequencies_.push_back(static_cast<float>(options.scale * std::pow(static_cast<double>(options.base), exponent)));
  }
}

void RotaryPositions::rotate(Tensor& rows, int heads, RunState& state) const {
  if (frequencies_.empty()) return;
  const std::size_t half = frequencies_.size();
  std::vector<int> positions(static_cast<std::size_t>(rows.rows()));
  for (const Sequence& sequence : state.sequences) {
    for (int i = 0; i < sequence.rows; ++i) {
      positions[static_cast<std::size_t>(sequence.first_row + i)] = sequence.past + i;
    }
  }
  for_each_row(rows, state.team(), [&](int row, int thread) {
    float* const cosines = state.thread_scratch(thread, 2 * half);
    float* const sines = cosines + half;
    const auto position = static_cast<float>(positions[static_cast<std::size_t>(row)]);
    for (std::size_t i = 0; i < half; ++i) {
      const float angle = position * frequencies_[i];
      cosines[i] = std::cos(angle);
      sines[i] = std::sin(angle);
    }
    float* x = rows.row(row);
    for (int head = 0; head < heads; ++head, x += 2 * half) {
      for (std::size_t i = 0; i < half; ++i) {
        const float first = x[i], second = x[i + half];
        x[i] = first * cosines[i] - second * sines[i];
        x[i + half] = second * cosines[i] + first * sines[i];
      }
    }
  });
}

}  // namespace encdec
