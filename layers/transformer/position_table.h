#pragma once

#include <cstdint>
#include <optional>

#include "encdec/engine/base/weights.h"
#include "encdec/layers/transformer/expectations.h"

namespace encdec {

// The angles of a sinusoidal encoding, and where it puts their sines and cosines. Wave lengths grow from 2 pi to
// kSinusoidBase * 2 pi.
inline constexpr double kSinusoidBase = 10000.0;
enum class SinusoidLayout : std::uint8_t {
  interleaved,    // sin, cos, sin, cos, ... of position / 10000^(2i/D): Vaswani et al. 2017, section 3.5
  halves,         // all sines, then all cosines: Marian, Pegasus; with odd D one more sine
  timing_signal,  // the same, of position / 10000^(i/(D/2-1)): tensor2tensor's and fairseq's, in M2M100 and Whisper;
                  // with odd D a zero at the end
};

// The sinusoidal encoding of one position, D floats. Computed in double precision; a timing signal's angle is rounded
// to float32 as in the models that were trained with it.
void sinusoid(std::int64_t position, SinusoidLayout layout, Dim model_dim, float* output);

// Rows of a table stand for positions: position p is row offset + p.
struct PositionOptions {
  // Where the rows come from.
  enum class Kind : std::uint8_t {
    none,        // nothing is added: order is told by relative positions
    sinusoidal,  // known for every position; a stored table goes first
    learned,
  };

  Kind kind = Kind::sinusoidal;                    // where the rows come from
  Dim model_dim = 0;                               // of the encodings
  SinusoidLayout layout = SinusoidLayout::halves;  // of sinusoids that are computed
  Dim count = 0;                                   // of positions that a stored table has
  Dim offset = 0;                                  // rows before position 0: 2 in BART's family
  // As in fairseq, pads do not count as positions, and get the row of this number: zeros where it is sinusoidal, also
  // of a stored table, whatever position it stands for.
  std::optional<std::int32_t> pad_token = {};
};

// The encodings of positions, sinusoidal or learned, for layers that add or append them.
// Positions count from 0, and from the past of a sequence whose earlier tokens are cached.
class PositionTable {
 public:
  // Sinusoidal, computed. Throws ConfigError for a width below 1.
  PositionTable(SinusoidLayout layout, Dim width);
  // Takes weight [count + offset, width]; a sinusoidal encoding takes it only if it is there: stored in half
  // precision it differs from a computed one. Throws WeightError, naming the tensor, and ConfigError for no kind of
  // positions and numbers below 0.
  PositionTable(const WeightScope& weights, const PositionOptions& options);

  Dim width() const { return table_.width(); }  // of an encoding

  // Throws ShapeError unless the inputs are {x: [R, x_width]}, with a pad token {x, token ids: int32 [R]}.
  void check(Shapes inputs, Dim x_width) const;

  // Calls use(row, encoding) for every row of the state's sequences; `inputs` are the layer's. Throws InputError for a
  // position that a learned encoding does not have.
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

  // Row `index` of the table; what lies beyond it is computed into `beyond`, for which scratch is taken if it is empty.
  const float* row(std::int64_t index, Tensor& beyond, RunState& state) const;

 private:
  PositionOptions options_;
  Tensor table_;  // float32 [rows, width]
};

}  // namespace encdec
