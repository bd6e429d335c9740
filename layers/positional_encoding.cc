#include "encdec/layers/positional_encoding.h"

#include <fmt/format.h>

#include <cmath>

#include "encdec/engine/error.h"
#include "encdec/engine/run_state.h"
#include "encdec/layers/linear.h"

namespace encdec {
namespace {

// Positions whose sinusoids are kept; later ones are computed when they occur.
constexpr Dim kTabulatedPositions = 1024;

}  // namespace

void sinusoid(std::int64_t position, SinusoidLayout layout, Dim model_dim, float* output) {
  const Dim sines = (model_dim + 1) / 2;
  for (Dim i = 0; i < sines; ++i) {
    const double exponent = 2.0 * static_cast<double>(i) / static_cast<double>(model_dim);
    const double angle = static_cast<double>(position) / std::pow(10000.0, exponent);
    const bool interleaved = layout == SinusoidLayout::interleaved;
    const Dim cosine = interleaved ? 2 * i + 1 : sines + i;
    output[interleaved ? 2 * i : i] = static_cast<float>(std::sin(angle));
    if (cosine < model_dim) output[cosine] = static_cast<float>(std::cos(angle));
  }
}

PositionalEncoding::PositionalEncoding(SinusoidLayout layout, Dim model_dim)
    : table_(Tensor::allocate({kTabulatedPositions, model_dim})), layout_(layout) {
  for (Dim position = 0; position < kTabulatedPositions; ++position) {
    sinusoid(position, layout, model_dim, table_.row(position));
  }
}

PositionalEncoding::PositionalEncoding(const WeightScope& weights, SinusoidLayout layout, Dim model_dim, Dim positions)
    : PositionalEncoding(layout, model_dim) {
  if (weights.has("weight")) read_table(weights.tensor("weight", {positions, model_dim}));
}

PositionalEncoding::PositionalEncoding(const WeightScope& weights, const LearnedPositions& options)
    : table_(Tensor::allocate({options.positions + options.offset, options.model_dim})),
      offset_(options.offset),
      learned_(true) {
  read_table(weights.tensor("weight", table_.shape()));
}

// Replaces the first rows of the table, and makes it longer where there are more.
void PositionalEncoding::read_table(const Tensor& stored) {
  if (stored.rows() > table_.rows()) table_ = Tensor::allocate(stored.shape());
  copy_as_float(stored, 0, stored.elements(), table_.data<float>());
}

Shape PositionalEncoding::output_shape(Shapes inputs) const {
  if (inputs.size() != 1) throw ShapeError(fmt::format("{} inputs, expected 1", inputs.size()));
  expect_rows(inputs[0], table_.width(), "input");
  return inputs[0];
}

void PositionalEncoding::forward(Inputs inputs, Tensor& output, RunState& state) const {
  const Dim width = table_.width();
  Tensor beyond;
  for (const Sequence& sequence : state.sequences) {
    for (int r = 0; r < sequence.rows; ++r) {
      const std::int64_t position = offset_ + sequence.past + r;
      const float* encoding = nullptr;
      if (position < table_.rows()) {
        encoding = table_.row(position);
      } else if (learned_) {
        throw InputError(fmt::format("a sequence of more than {} tokens, but the model has {} positions",
                                     table_.rows() - offset_, table_.rows() - offset_));
      } else {
        if (beyond.empty()) beyond = state.scratch({width});
        sinusoid(position, layout_, width, beyond.data<float>());
        encoding = beyond.data<float>();
      }
      const float* input = inputs[0].row(sequence.first_row + r);
      float* row = output.row(sequence.first_row + r);
      for (Dim i = 0; i < width; ++i) row[i] = input[i] + encoding[i];
    }
  }
}

}  // namespace encdec
