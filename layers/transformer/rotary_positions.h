#pragma once

#include <limits>
#include <vector>

#include "encdec/engine/run_state.h"

namespace encdec {

// Options of RotaryPositions. Pair i of K / 2 turns by scale * base^(-2i/K) radians from a position to the next.
struct RotaryOptions {
  float base = 0.0f;  // 0: no rotation
  float scale = 1.0f;
  // A sequence of n > trained_positions rows has the base
  //   base * (growth * n / trained_positions - (growth - 1))^(K / (K - 2))
  // ("dynamic NTK" in transformers). For encoders, which read a sequence at once.
  float growth = 1.0f;
  int trained_positions = std::numeric_limits<int>::max();

  bool operator==(const RotaryOptions&) const = default;
};

// Rotary position embedding (Su et al. 2021, section 3.2.2): turns each pair of numbers of a query or key by an angle
// that grows with its position, so that scores depend on the distance. The pairs are (x_i, x_{i + K/2}), as in
// GPT-NeoX.
class RotaryPositions {
 public:
  RotaryPositions() = default;  // no rotation
  // Throws ShapeError unless head_dim is even.
  RotaryPositions(const RotaryOptions& options, Dim head_dim);

  // Turns the first `heads` heads of each row: queries and keys, which lie side by side. The first row of a sequence
  // has position `past`.
  void rotate(Tensor& rows, int heads, RunState& state) const;

 private:
  std::vector<float> frequencies_of(int length) const;

  RotaryOptions options_;
  Dim head_dim_ = 0;
  std::vector<float> frequencies_;  // [K / 2], for at most trained_positions rows
};

}  // namespace encdec
