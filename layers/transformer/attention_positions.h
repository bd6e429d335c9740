#pragma once

#include "encdec/layers/transformer/attention_heads.h"

namespace encdec {

// The position-dependent parts of self-attention, as chosen by AttentionOptions.
class AttentionPositions {
 public:
  // Takes relative_position_bias.weight [buckets, H] for relative positions, and the weights of
  // DisentangledPositions for disentangled ones. Throws WeightError, naming the tensor.
  AttentionPositions(const WeightScope& weights, const AttentionOptions& options);

  // Sets the position-dependent fields of a sequence's first head.
  void set(kernels::HeadAttention& head) const;
  // Rotates queries and keys; see RotaryPositions.
  void rotate(Tensor& rows, int heads, RunState& state) const { rotary_.rotate(rows, heads, state); }

 private:
  kernels::KeyLimits limits_;
  RelativePositionBias bias_;
  DisentangledPositions disentangled_;
  RotaryPositions rotary_;
};

}  // namespace encdec
