#pragma once

#include <limits>
#include <vector>

#include "encdec/engine/run_state.h"

namespace encdec {

// Options of RotaryPositions. Pair i of ceil(W / 2) turns by scale * base^(-2i/W) radians from a position to the next,
// where W = floor(share * K).
struct RotaryOptions {
  float base = 0.0f;  // 0: no rotation
  float scale = 1.0f;
  // A sequence of n > trained_positions rows has the base
  //   base * (growth * n / trained_positions - (growth - 1))^(K / (K - 2))
  // ("dynamic NTK" in transformers). For encoders, which read a sequence at once.
  float growth = 1.0f;
  int trained_positions = std::numeric_limits<int>::max();
  // Slows pairs down that turn less than `high` times in `positions` positions: by `factor` if they turn less than
  // `low` times, and by a mixture between ("llama3" in transformers).
  struct Slowdown {
    double factor = 1.0, low = 1.0, high = 4.0, positions = 0.0;  // factor 1: no pair is slower

    bool operator==(const Slowdown&) const = default;
  } slowdown = {};
  double share = 1.0;       // share of a head's numbers that turn, the first ones
  bool neighbours = false;  // the pairs are (x_2i, x_2i+1), as in the paper, rather than (x_i, x_{i + W/2})

  bool operator==(const RotaryOptions&) const = default;
};

// Rotary position embedding (Su et al. 2021, section 3.2.2): turns each pair of numbers of a query or key by an angle
// that grows with its position, so that scores depend on the distance. By default the pairs are (x_i, x_{i + W/2}), as
// in GPT-NeoX.
class RotaryPositions {
 public:
  RotaryPositions() = default;  // no rotation
  // Throws ShapeError unless the pairs fit: W is even, or the pairs are neighbours and W < head_dim.
  RotaryPositions(const RotaryOptions& options, Dim head_dim);

  // Turns the first `heads` heads of each row: queries and keys, which lie side by side. The first row of a sequence
  // has position `past`.
  void rotate(Tensor& rows, int heads, RunState& state) const;

 private:
  std::vector<float> frequencies_of(int length) const;

  RotaryOptions options_;
  Dim head_dim_ = 0;
  Dim width_ = 0;                   // W
  std::vector<float> frequencies_;  // [ceil(W / 2)], for at most trained_positions rows
};

}  // namespace encdec
