#pragma once

#include "encdec/layers/transformer/attention_heads.h"

namespace encdec {

// The parts of self-attention that depend on positions; AttentionOptions says which there are.
class AttentionPositions {
 public:
  // With relative positions, takes relative_position_bias.weight [buckets, H]; with disentangled positions, the weights
  // of DisentangledPositions. Throws WeightError, naming the tensor, if one is missing or does not fit.
  AttentionPositions(const WeightScope& weights, const AttentionOptions& options);

  // Sets the fields of a sequence's first head that depend on positions.
  void set(kernels::HeadAttention& head) const;
  // Turns queries and keys; see RotaryPositions::rotate().
  void rotate(Tensor& rows, int heads, RunState& state) const { rotary_.rotate(rows, heads, state); }

 private:
  kernels::KeyLimits limits_;
  RelativePositionBias bias_;
  DisentangledPositions disentangled_;
  RotaryPositions rotary_;
};

}  // namespace encdec
