#pragma once

#include <cstdint>

#include "encdec/layers/transformer/self_attention_projections.h"

namespace encdec {

enum class WindowSides : std::uint8_t {
  both,
  before,  // no row sees a later one: for whole targets, all of whose rows are there
};

// Attention of which heads, in which window.
struct LocalAttentionOptions {
  AttentionOptions attention;             // as MultiHeadAttention's
  int window = 0;                         // positions on each side of a row's own; 0: only itself
  WindowSides sides = WindowSides::both;  // where rows look
};

// Multi-head self-attention in a sliding window (Luong et al. 2015, section 3.2, local-m; Beltagy et al. 2020, section
// 3.1): row i attends to the rows j of its sequence with |i - j| <= window, all others have weight zero. Otherwise as
// MultiHeadAttention; takes time in proportion to rows * window.
//   {x: [R, D]} or {x, residual: [R, D]} -> [R, D]
class LocalAttention final : public Layer {
 public:
  // Takes what SelfAttentionProjections takes. Throws WeightError, naming the tensor, if one is missing or does not
  // fit, ConfigError if the window is negative.
  LocalAttention(const WeightScope& weights, const LocalAttentionOptions& options);

  std::string_view kind() const override { return "local_attention"; }
  Shape output_shape(Shapes inputs) const override { return projections_.output_shape(inputs); }
  // Nothing is cached: throws InputError if a sequence has a past.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  int window_;
  WindowSides sides_;
  SelfAttentionProjections projections_;
};

}  // namespace encdec
