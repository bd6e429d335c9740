#pragma once

#include <cstdint>
#include <optional>

#include "encdec/engine/base/weights.h"
#include "encdec/layers/transformer/expectations.h"

namespace encdec {

// Wavelengths of a sinusoidal encoding grow from 2 pi to kSinusoidBase * 2 pi.
inline constexpr double kSinusoidBase = 10000.0;
// Angles of a sinusoidal encoding of D numbers, and the order of sines and cosines.
enum class SinusoidLayout : std::uint8_t {
  interleaved,  // sin, cos, sin, cos, ... of position / 10000^(2i/D) (Vaswani et al. 2017, section 3.5)
  // The same angles: all sines, then all cosines. Odd D has one more sine. Used by Pegasus, and by
  // Marian in transformers.
  halves,
  // All sines, then all cosines, of position / 10000^(i/(D/2-1)); odd D ends with a zero. From
  // tensor2tensor and fairseq; used by Marian itself, M2M100 and Whisper.
  timing_signal,
};

// Writes the encoding of one position, D floats. A timing signal is computed in float32, like in
// the training of these models; other layouts in double precision.
void sinusoid(std::int64_t position, SinusoidLayout layout, Dim model_dim, float* output);

// Options of a PositionTable. Position p is row offset + p of the table.
struct PositionOptions {
  enum class Kind : std::uint8_t {
    none,        // no table: the model uses relative positions
    sinusoidal,  // computed; the first rows may be stored in the checkpoint
    learned,     // read from the checkpoint
  };

  Kind kind = Kind::sinusoidal;
  Dim model_dim = 0;
  SinusoidLayout layout = SinusoidLayout::halves;  // layout of computed sinusoids
  Dim count = 0;                                   // positions in a stored table
  Dim offset = 0;                                  // rows before position 0; 2 in BART's family
  // If set, pad tokens do not count as positions, as in fairseq. Each pad token gets row `pad_token`. In a sinusoidal
  // table this row is zeros, so the position that would use it has no encoding.
  std::optional<std::int32_t> pad_token = {};
};

// A table of position encodings for layers that add or append them. The first row of a sequence has
// position `past`, the number of its cached tokens.
class PositionTable {
 public:
  // Computes sinusoids; takes no weights. Throws ConfigError if `width` is less than 1.
  PositionTable(SinusoidLayout layout, Dim width);
  // Takes weight [count + offset, width]; optional for sinusoids, where a table stored in half
  // precision differs from a computed one.
  // Throws WeightError, naming the tensor. Throws ConfigError if the kind is none, if model_dim is
  // less than 1, or if count, offset or pad_token is negative.
  PositionTable(const WeightScope& weights, const PositionOptions& options);

  Dim width() const { return table_.width(); }

  // Throws ShapeError unless the inputs are {x: [R, x_width]} or, with a pad token,
  // {x, token ids: int32 [R]}.
  void check(Shapes inputs, Dim x_width) const;

  // Calls use(row, encoding) for each row of state.sequences, with the inputs of the calling layer.
  // Throws InputError if a learned table has no row for a position.
  template <class Use>
  void for_each_position(Inputs inputs, RunState& state, const Use& use) const {
    expect_all_rows(state.sequences, inputs[0].rows());
    if (options_.pad_token) expect_integers(inputs[1], "token ids");
    const std::int32_t* token_ids = options_.pad_token ? inputs[1].data<std::int32_t>() : nullptr;
    Tensor beyond;
    for (const Sequence& sequence : state.sequences) {
      std::int64_t next = options_.offset + sequence.past;
      for (int r = sequence.first_row; r < sequence.first_row + sequence.rows; ++r) {
        const bool is_pad = token_ids != nullptr && token_ids[r] == *options_.pad_token;
        use(r, row(is_pad ? *options_.pad_token : next++, beyond, state));
      }
    }
  }

  // Returns row `index`. Past the last row, computes the sinusoid into `beyond`, which is allocated from scratch memory
  // if it is empty. Throws InputError if a learned table has no such row.
  const float* row(std::int64_t index, Tensor& beyond, RunState& state) const;

 private:
  PositionOptions options_;
  Tensor table_;  // float32 [rows, width]
};

}  // namespace encdec
