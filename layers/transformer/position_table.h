#pragma once

#include <cstdint>
#include <optional>

#include "encdec/engine/base/weights.h"
#include "encdec/layers/transformer/expectations.h"

namespace encdec {

// Base of the wavelengths of a sinusoidal encoding: they grow from 2 pi to kSinusoidBase * 2 pi.
inline constexpr double kSinusoidBase = 10000.0;
// Angles of a sinusoidal encoding of D numbers, and the order of their sines and cosines.
enum class SinusoidLayout : std::uint8_t {
  interleaved,  // sin, cos, sin, cos, ... of position / 10000^(2i/D) (Vaswani et al. 2017, section 3.5)
  halves,       // the same angles: all sines, then all cosines; with odd D one more sine (Pegasus, and Marian in
                // transformers)
  // All sines, then all cosines, of position / 10000^(i/(D/2-1)); with odd D a zero at the end. From tensor2tensor and
  // fairseq; Marian itself, M2M100 and Whisper use it.
  timing_signal,
};

// Writes the sinusoidal encoding of one position, D floats. A timing signal is computed in float32, as in the models
// that were trained with it; the other layouts in double precision.
void sinusoid(std::int64_t position, SinusoidLayout layout, Dim model_dim, float* output);

// Options of a PositionTable. Position p is row offset + p of the table.
struct PositionOptions {
  // Source of the rows.
  enum class Kind : std::uint8_t {
    none,        // nothing is added: the model uses relative positions
    sinusoidal,  // computed for every position; a stored table replaces the first rows
    learned,     // read from the checkpoint
  };

  Kind kind = Kind::sinusoidal;                    // source of the rows
  Dim model_dim = 0;                               // width of an encoding
  SinusoidLayout layout = SinusoidLayout::halves;  // layout of computed sinusoids
  Dim count = 0;                                   // number of positions in a stored table
  Dim offset = 0;                                  // rows before position 0; 2 in BART's family
  // Unset: every token counts as a position. Set: pad tokens do not count, as in fairseq, and each gets row `pad_token`
  // of the table. In a sinusoidal table, computed or stored, row `pad_token` is zeros, also for the position that would
  // use this row.
  std::optional<std::int32_t> pad_token = {};
};

// A table of position encodings, sinusoidal or learned, for layers that add or append them.
// The first row of a sequence has position `past`, which is 0 or the number of its cached tokens.
class PositionTable {
 public:
  // Computes sinusoids; takes no weights. Throws ConfigError if `width` is less than 1.
  PositionTable(SinusoidLayout layout, Dim width);
  // Takes weight [count + offset, width]. A learned table requires this weight. A sinusoidal table takes it if the
  // checkpoint has it, since a table stored in half precision differs from a computed one.
  // Throws WeightError, naming the tensor, if the weight is missing or does not fit. Throws ConfigError if the kind is
  // none, if model_dim is less than 1, or if count, offset or pad_token is negative.
  PositionTable(const WeightScope& weights, const PositionOptions& options);

  Dim width() const { return table_.width(); }  // width of an encoding

  // Throws ShapeError unless the inputs are {x: [R, x_width]} or, with a pad token, {x, token ids: int32 [R]}.
  void check(Shapes inputs, Dim x_width) const;

  // Calls use(row, encoding) for every row of state.sequences. `inputs` are those of the calling layer. Throws
  // InputError if a learned table has no row for a position.
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

  // Returns row `index` of the table. A sinusoid after the last row is computed into `beyond`, which is taken from
  // scratch if it is empty. Throws InputError if a learned table has no such row.
  const float* row(std::int64_t index, Tensor& beyond, RunState& state) const;

 private:
  PositionOptions options_;
  Tensor table_;  // float32 [rows, width]
};

}  // namespace encdec
