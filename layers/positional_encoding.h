#pragma once

#include "encdec/engine/layer.h"
#include "encdec/engine/weights.h"

namespace encdec {

// Where a sinusoidal encoding puts the sines and cosines of its angles position / 10000^(2i/D).
enum class SinusoidLayout : std::uint8_t {
  interleaved,  // sin, cos, sin, cos, ...: Vaswani et al. 2017, section 3.5
  halves,       // all sines, then all cosines: Marian, and most checkpoints; with odd D one more sine
};

struct LearnedPositions {
  Dim model_dim = 0;
  Dim positions = 0;  // that the model knows
  Dim offset = 0;     // rows of the table before position 0: 2 in BART's family
};

// Adds to each row the encoding of its position in its sequence: y_r = x_r + encoding[position_r];  [R, D] -> [R, D].
// Positions count from 0, and from the past of a sequence whose earlier tokens are cached.
class PositionalEncoding final : public Layer {
 public:
  // Sinusoidal; known for every position.
  PositionalEncoding(SinusoidLayout layout, Dim model_dim);
  // The same where a checkpoint may have stored the first `positions` rows: takes weight [positions, D] if it is there,
  // since a table stored in half precision differs from a computed one. Throws WeightError, naming the tensor.
  PositionalEncoding(const WeightScope& weights, SinusoidLayout layout, Dim model_dim, Dim positions);
  // Learned: takes weight [positions + offset, D]. Throws WeightError, naming the tensor.
  PositionalEncoding(const WeightScope& weights, const LearnedPositions& options);

  std::string_view kind() const override { return "positional_encoding"; }
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError for a position that a learned encoding does not have.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  void read_table(const Tensor& stored);

  Tensor table_;  // float32 [rows, D]
  Dim offset_ = 0;
  bool learned_ = false;
  SinusoidLayout layout_ = SinusoidLayout::halves;
};

// The sinusoidal encoding of one position, D floats, computed in double precision.
void sinusoid(std::int64_t position, SinusoidLayout layout, Dim model_dim, float* output);

}  // namespace encdec
