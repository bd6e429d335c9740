#pragma once

#include <cstdint>

#include "encdec/layers/transformer/self_attention_projections.h"

namespace lessons {
using namespace encdec;

// Rows of the window that a row attends to, besides itself.
enum class WindowSides : std::uint8_t {
  both,    // rows before and after the row
  before,  // only rows before the row; for whole targets, since nothing is cached
};

// Options of a LocalAttention.
struct LocalAttentionOptions {
  AttentionOptions attention;             // options of the heads, as in MultiHeadAttention
  int window = 0;                         // positions on each side of a row; 0 means only the row itself
  WindowSides sides = WindowSides::both;  // sides of the window that a row attends to
};

// Multi-head self-attention in a sliding window (Luong et al. 2015, section 3.2, local-m; Beltagy et al. 2020, section
// 3.1): row i attends to the rows j of its sequence with |i - j| <= window. Otherwise the formula is the same as in
// MultiHeadAttention.
//   {x: [R, D]} or {x, residual: [R, D]} -> [R, D]
// The time is proportional to rows * window.
class LocalAttention final : public Layer {
 public:
  // Takes the weights of SelfAttentionProjections. Throws WeightError, naming the tensor, if one is missing or does not
  // fit, and ConfigError if the window is negative.
  LocalAttention(const WeightScope& weights, const LocalAttentionOptions& options);

  std::string_view kind() const override { return "local_attention"; }
  Shape output_shape(Shapes inputs) const override { return projections_.output_shape(inputs); }
  // Throws InputError if a sequence has a past, since nothing is cached.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  int window_;
  WindowSides sides_;
  SelfAttentionProjections projections_;
};

}  // namespace lessons
