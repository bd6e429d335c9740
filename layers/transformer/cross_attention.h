#pragma once

#include "encdec/layers/transformer/attention_heads.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

// Keys and values of the encoder output for one cross-attention. They are computed once per source, and every decoding
// step reads them.
//   encoder output [S, D] -> memory [S, 2*H*K], float32 or bfloat16; see key_value_form_of()
// The rows of one source together hold its keys [H, rows, K] and then its values [H, rows, K], so that a head reads
// contiguous memory. If packs_memory() is true, the keys of a head are in the order of kernels::pack_bfloat16_keys(),
// its values in that of kernels::pack_bfloat16_values().
class CrossAttentionMemory final : public Layer {
 public:
  // Takes {key,value}.{weight [H*K, D], bias [H*K]} from the same scope as the CrossAttention that reads the memory.
  // Throws WeightError, naming the tensor, if one is missing or does not fit.
  CrossAttentionMemory(const WeightScope& weights, const AttentionOptions& options);

  std::string_view kind() const override { return "cross_attention_memory"; }
  Shape output_shape(Shapes inputs) const override { return key_value_.output_shape(inputs); }
  DataType output_type() const override { return form_.type; }
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  KeyValueForm form_;
  bool packed_;
  Linear key_value_;  // D -> 2*H*K, one matmul
};

// Attention of a decoder to its source (Vaswani et al. 2017, section 3.2.3): each target row attends to the memory rows
// [first_memory_row, first_memory_row + memory_rows) of its sequence. If there are none, the attended values are zeros.
//   y = output(concat_h softmax(scale * q_h k_hᵀ) v_h) (+ residual);  q = query(x), k and v from the memory
//   {x: [T, D], memory: [S, 2*H*K]} or {x, memory, residual: [T, D]} -> [T, D]
// The memory has the layout of CrossAttentionMemory, for the precision of this layer or for float32; scale is
// 1 / sqrt(K) by default.
class CrossAttention final : public Layer {
 public:
  // Takes query.{weight [H*K, D], bias [H*K]} and output.{weight [D, H*K], bias [D]}.
  // Throws WeightError, naming the tensor, if one is missing or does not fit.
  CrossAttention(const WeightScope& weights, const AttentionOptions& options);

  std::string_view kind() const override { return "cross_attention"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  AttentionOptions options_;
  KeyValueForm form_;
  bool packed_;
  Linear query_;   // D -> H*K
  Linear output_;  // H*K -> D
};

}  // namespace encdec
