#include "encdec/layers/transformer/group_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/engine/row_sharing.h"
#include "encdec/engine/run_state.h"
#include "encdec/layers/transformer/expectations.h"

namespace encdec {

GroupNorm::GroupNorm(const WeightScope& weights, const GroupNormOptions& options)
    : options_(options),
      scale_(weights.tensor("weight", {options.channels})),
      shift_(weights.tensor("bias", {options.channels})) {}

Shape GroupNorm::output_shape(Shapes inputs) const {
  expect_count(inputs, 2);
  expect_rows(inputs[0], options_.positions_per_row * options_.channels, "positions");
  return inputs[0];
}

void GroupNorm::forward(Inputs inputs, Tensor& output, RunState& state) const {
  expect_all_rows(state.sequences, inputs[0].rows());
  expect_integers(inputs[1], "lengths of sequences");
  if (inputs[1].elements() != static_cast<Dim>(state.sequences.size())) {
    throw InputError(
        fmt::format("{} lengths, expected one for each of {} sequences", inputs[1].elements(), state.sequences.size()));
  }
  const std::int32_t* lengths = inputs[1].data<std::int32_t>();
  const Dim channels = options_.channels, width = inputs[0].width();
  // Compute one sum per row and add the sums in the order of rows. So the number of threads does not change results.
  std::vector<double> sums;
  for (const Sequence& sequence : state.sequences) {
    const Dim count = channels * *lengths++;
    if (count < 1 || count > sequence.rows * width) {
      throw InputError(fmt::format("a sequence of {} positions in {} rows, expected 1 to {}", count / channels,
                                   sequence.rows, sequence.rows * options_.positions_per_row));
    }
    const Tensor rows = inputs[0].slice(sequence.first_row, sequence.rows);
    const auto mean_of = [&](const auto& value) {
      sums.assign(static_cast<std::size_t>(sequence.rows), 0.0);
      for_each_row(rows, state.team(), [&](int row) {
        // Leave out positions after the sequence's length.
        const Dim own = std::clamp<Dim>(count - row * width, 0, width);
        for (Dim i = 0; i < own; ++i) sums[static_cast<std::size_t>(row)] += value(double{rows.row(row)[i]});
      });
      double sum = 0;
      for (const double of_row : sums) sum += of_row;
      return sum / static_cast<double>(count);
    };
    const double mean = mean_of([](double x) { return x; });
    const double variance = mean_of([mean](double x) { return (x - mean) * (x - mean); });
    const auto center = static_cast<float>(mean);
    const auto factor = static_cast<float>(1.0 / std::sqrt(variance + double{options_.epsilon}));
    // Normalise all positions, including those after the length.
    Tensor normalized = output.slice(sequence.first_row, sequence.rows);
    for_each_row(normalized, state.team(), [&](int row) {
      const float* x = rows.row(row);
      float* y = normalized.row(row);
      for (Dim i = 0; i < width; i += channels) {
        for (Dim c = 0; c < channels; ++c) {
          y[i + c] = (x[i + c] - center) * factor * scale_.data<float>()[c] + shift_.data<float>()[c];
        }
      }
    });
  }
}

}  // namespace encdec
