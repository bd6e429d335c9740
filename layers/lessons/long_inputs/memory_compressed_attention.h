#pragma once

#include "encdec/layers/transformer/convolution_1d.h"
#include "encdec/layers/transformer/self_attention_projections.h"

namespace encdec {

// Attention of which heads, and how much shorter its keys and values get.
struct MemoryCompressedAttentionOptions {
  AttentionOptions attention;              // without relative positions
  Dim kernel = 3;                          // of both convolutions
  Dim stride = 3;                          // rows from a window to the next
  Bias convolution_bias = Bias::required;  // of both convolutions
};

// Memory-compressed attention (Liu et al. 2018, section 4.2.3): multi-head self-attention to fewer keys and values,
// those of a sequence of n rows shortened to ceil(n / stride) by strided convolutions of the projected ones, all heads
// together. Zeros fill up the last window. Every row sees every compressed key of its sequence: not causal.
//   y = output(concat_h softmax(q_h k'_hᵀ / sqrt(K)) v'_h) (+ residual)
//   q = query(x), k' = key_convolution(key(x)), v' = value_convolution(value(x))
//   {x: [R, D]} or {x, residual: [R, D]} -> [R, D]
class MemoryCompressedAttention final : public Layer {
 public:
  // Takes what SelfAttentionProjections takes and {key,value}_convolution.{weight [H*K, H*K, kernel], bias [H*K]}.
  // Throws WeightError, naming the tensor, if one is missing or does not fit, ConfigError if the stride or relative
  // positions are not possible.
  MemoryCompressedAttention(const WeightScope& weights, const MemoryCompressedAttentionOptions& options);

  std::string_view kind() const override { return "memory_compressed_attention"; }
  Shape output_shape(Shapes inputs) const override { return projections_.output_shape(inputs); }
  // Nothing is cached: throws InputError if a sequence has a past.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  AttentionOptions options_;
  SelfAttentionProjections projections_;
  Convolution1d key_convolution_;    // H*K -> H*K
  Convolution1d value_convolution_;  // H*K -> H*K
};

}  // namespace encdec
