#include "encdec/layers/transformer/rotary_positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numbers>

#include "encdec/engine/base/error.h"
#include "encdec/engine/row_sharing.h"

namespace encdec {

RotaryPositions::RotaryPositions(const RotaryOptions& options, Dim head_dim)
    : options_(options), head_dim_(head_dim), width_(static_cast<Dim>(options.share * static_cast<double>(head_dim))) {
  if (options.base == 0.0f) return;
  if (width_ % 2 != 0 && !(options.neighbours && width_ < head_dim))
    throw ShapeError(fmt::format("rotary positions for heads of {}, expected an even width", width_));
  frequencies_ = frequencies_of(1);
}

// Returns the radians per position for each pair of dimensions, for a sequence of `length` rows.
std::vector<float> RotaryPositions::frequencies_of(int length) const {
  const auto width = static_cast<double>(width_), growth = static_cast<double>(options_.growth);
  double base = options_.base;
  // Apply dynamic NTK scaling: a larger base slows down the rotation.
  if (length > options_.trained_positions) {
    base *= std::pow(growth * length / options_.trained_positions - (growth - 1), width / (width - 2));
  }
  std::vector<float> frequencies;
  for (Dim i = 0; i < (width_ + 1) / 2; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / width;
    const double frequency = options_.scale * std::pow(base, exponent);
    // `kept` is 1 for pairs that turn at least slow.high times in slow.positions positions, and 0 for pairs that turn
    // at most slow.low times.
    const RotaryOptions::Slowdown& slow = options_.slowdown;
    const double turns = slow.positions * frequency / (2 * std::numbers::pi);
    const double kept = std::clamp((turns - slow.low) / (slow.high - slow.low), 0.0, 1.0);
    frequencies.push_back(static_cast<float>(frequency * (kept + (1 - kept) / slow.factor)));
  }
  return frequencies;
}

void RotaryPositions::rotate(Tensor& rows, int heads, RunState& state) const {
  if (frequencies_.empty()) return;
  const std::size_t half = frequencies_.size();
  // The position of a row and its frequencies. Long sequences have their own frequencies.
  struct RowRotation {
    int position = 0;
    const float* frequencies = nullptr;
  };
  std::vector<RowRotation> rotations(static_cast<std::size_t>(rows.rows()));
  std::deque<std::vector<float>> of_long_sequences;
  for (const Sequence& sequence : state.sequences) {
    const float* frequencies = frequencies_.data();
    if (const int length = sequence.past + sequence.rows; length > options_.trained_positions) {
      frequencies = of_long_sequences.emplace_back(frequencies_of(length)).data();
    }
    for (int i = 0; i < sequence.rows; ++i) {
      rotations[static_cast<std::size_t>(sequence.first_row + i)] = {sequence.past + i, frequencies};
    }
  }
  for_each_row(rows, state.team(), [&](int row, int thread) {
    // All heads of a row rotate by the same angles.
    float* const cosines = state.thread_scratch(thread, 2 * half);
    float* const sines = cosines + half;
    const RowRotation& rotation = rotations[static_cast<std::size_t>(row)];
    const auto position = static_cast<float>(rotation.position);
    for (std::size_t i = 0; i < half; ++i) {
      const float angle = position * rotation.frequencies[i];
      cosines[i] = std::cos(angle);
      sines[i] = std::sin(angle);
    }
    // Rotate each pair (a, b) by its angle.
    float* x = rows.row(row);
    const std::size_t step = options_.neighbours ? 2 : 1, other = options_.neighbours ? 1 : half;
    for (int head = 0; head < heads; ++head, x += head_dim_) {
      for (std::size_t i = 0; i < half; ++i) {
        float& a = x[i * step];
        float& b = x[i * step + other];
        const float first = a, second = b;
        a = first * cosines[i] - second * sines[i];
        b = second * cosines[i] + first * sines[i];
      }
    }
  });
}

}  // namespace encdec
