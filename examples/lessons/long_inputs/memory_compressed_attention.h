#pragma once

#include "encdec/layers/transformer/convolution_1d.h"
#include "encdec/layers/transformer/self_attention_projections.h"

namespace lessons {
using namespace encdec;

// Options of a MemoryCompressedAttention.
struct MemoryCompressedAttentionOptions {
  AttentionOptions attention;              // options of the heads; relative positions are not supported
  Dim kernel = 3;                          // rows in a window of each convolution
  Dim stride = 3;                          // rows from one window to the next
  Bias convolution_bias = Bias::required;  // bias of both convolutions
};

// Memory-compressed attention (Liu et al. 2018, section 4.2.3): multi-head self-attention to shortened keys and values.
//   y = output(concat_h softmax(scale * q_h k'_hᵀ) v'_h) (+ residual)
//   q = query(x), k' = key_convolution(key(x)), v' = value_convolution(value(x))
//   {x: [R, D]} or {x, residual: [R, D]} -> [R, D]
// Strided convolutions shorten the n keys and values of a sequence to ceil(n / stride). Each convolution mixes all
// heads; zeros complete its last window. Every row attends to all shortened keys of its sequence, so this attention is
// not causal.
class MemoryCompressedAttention final : public Layer {
 public:
  // Takes the weights of SelfAttentionProjections and {key,value}_convolution.{weight [H*K, H*K, kernel], bias [H*K]}.
  // Throws WeightError, naming the tensor, if one is missing or does not fit. Throws ConfigError if there are relative
  // positions, or unless 1 <= stride <= kernel.
  MemoryCompressedAttention(const WeightScope& weights, const MemoryCompressedAttentionOptions& options);

  std::string_view kind() const override { return "memory_compressed_attention"; }
  Shape output_shape(Shapes inputs) const override { return projections_.output_shape(inputs); }
  // Throws InputError if a sequence has a past, since nothing is cached.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  AttentionOptions options_;
  SelfAttentionProjections projections_;
  Convolution1d key_convolution_;    // H*K -> H*K
  Convolution1d value_convolution_;  // H*K -> H*K
};

}  // namespace lessons
