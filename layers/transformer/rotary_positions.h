#pragma once

#include <limits>
#include <vector>

#include "encdec/engine/run_state.h"

namespace encdec {

// Pair i of ceil(W / 2) rotates by scale * base^(-2i/W) radians per position; W = floor(share * K).
struct RotaryOptions {
  float base = 0.0f;  // 0: no rotation
  float scale = 1.0f;
  // A sequence of n > trained_positions rows uses the base
  //   base * (growth * n / trained_positions - (growth - 1))^(W / (W - 2))
  // ("dynamic NTK" in transformers). For encoders, which read a sequence at once.
  float growth = 1.0f;
  int trained_positions = std::numeric_limits<int>::max();
  // Slows down pairs that rotate less than `high` times in `positions` positions. Pairs that rotate less than `low`
  // times are slowed by `factor`, pairs in between gradually less ("llama3" in transformers).
  struct Slowdown {
    double factor = 1.0, low = 1.0, high = 4.0, positions = 0.0;  // factor 1: no slowdown

    bool operator==(const Slowdown&) const = default;
  } slowdown = {};
  double share = 1.0;       // fraction of a head's numbers that rotate: the first numbers
  bool neighbours = false;  // pairs (x_2i, x_2i+1), as in the paper, instead of (x_i, x_{i + W/2})

  bool operator==(const RotaryOptions&) const = default;
};

// Rotary position embedding (Su et al. 2021, section 3.2.2): rotates each pair of numbers of a
// query or key by an angle proportional to its position, so that scores depend on the distance. By
// default the pairs are (x_i, x_{i + W/2}), as in GPT-NeoX.
class RotaryPositions {
 public:
  RotaryPositions() = default;  // no rotation
  // Throws ShapeError unless W is even, or the pairs are neighbours and W < head_dim.
  RotaryPositions(const RotaryOptions& options, Dim head_dim);

  // Rotates the first `heads` heads of each row: adjacent queries and keys. The first row of a
  // sequence has position `past`.
  void rotate(Tensor& rows, int heads, RunState& state) const;

 private:
  std::vector<float> frequencies_of(int length) const;

  RotaryOptions options_;
  Dim head_dim_ = 0;
  Dim width_ = 0;                   // W
  std::vector<float> frequencies_;  // [ceil(W / 2)], up to trained_positions rows
};

}  // namespace encdec
