#pragma once

#include <optional>
#include <span>

#include "encdec/engine/layer.h"
#include "encdec/engine/matmul.h"
#include "encdec/engine/weights.h"

namespace encdec {

// The angles of a sinusoidal encoding, and where it puts their sines and cosines.
enum class SinusoidLayout : std::uint8_t {
  interleaved,    // sin, cos, sin, cos, ... of position / 10000^(2i/D): Vaswani et al. 2017, section 3.5
  halves,         // all sines, then all cosines: Marian, Pegasus; with odd D one more sine
  timing_signal,  // the same, of position / 10000^(i/(D/2-1)): tensor2tensor's and fairseq's, in M2M100 and Whisper;
                  // with odd D a zero at the end
};

// Rows of a table stand for positions: position p is row offset + p.
struct PositionOptions {
  enum class Kind : std::uint8_t {
    none,        // nothing is added: order is told by relative positions
    sinusoidal,  // known for every position; a stored table goes first
    learned,
  };

  Kind kind = Kind::sinusoidal;
  Dim model_dim = 0;
  SinusoidLayout layout = SinusoidLayout::halves;
  Dim positions = 0;  // that a stored table has
  Dim offset = 0;     // rows before position 0: 2 in BART's family
  // As in fairseq, pads do not count as positions, and get the row of this number: zeros where it is sinusoidal.
  std::optional<std::int32_t> pad_token = {};
};

// Adds to each row the encoding of its position in its sequence: y_r = x_r + table[offset + position_r].
//   {x: [R, D]}, with a pad token {x, token ids: int32 [R]} -> [R, D]
// Positions count from 0, and from the past of a sequence whose earlier tokens are cached.
class PositionalEncoding final : public Layer {
 public:
  // Sinusoidal, computed.
  PositionalEncoding(SinusoidLayout layout, Dim model_dim);
  // Takes weight [positions + offset, D]; a sinusoidal encoding takes it only if it is there: stored in half precision
  // it differs from a computed one. Throws WeightError, naming the tensor.
  PositionalEncoding(const WeightScope& weights, const PositionOptions& options);

  std::string_view kind() const override { return "positional_encoding"; }
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError for a position that a learned encoding does not have.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  const float* row(std::int64_t index, Tensor& beyond, RunState& state) const;

  PositionOptions options_;
  Tensor table_;  // float32 [rows, D]
};

// The sinusoidal encoding of one position, D floats. Computed in double precision; a timing signal's angle is rounded
// to float32 as in the models that were trained with it.
void sinusoid(std::int64_t position, SinusoidLayout layout, Dim model_dim, float* output);

}  // namespace encdec
