#pragma once

#include "encdec/layers/transformer/head_norm.h"
#include "encdec/layers/transformer/linear.h"
#include "encdec/layers/transformer/memory_form.h"

namespace encdec {

// Keys and values of the encoder output for one cross-attention. They are computed once per source, and every decoding
// step reads them.
//   encoder output [S, E] -> memory [S, 2*G*K], float32 or bfloat16; see key_value_form_of()
// E is the encoder's width, G the number of key/value heads. The rows of one source together hold its keys [G, rows, K]
// and then its values [G, rows, K], so that a head reads contiguous memory. If packs_memory() is true, a head's keys
// are in the order of kernels::pack_bfloat16_keys(), its values in the order of kernels::pack_bfloat16_values().
class CrossAttentionMemory final : public Layer {
 public:
  // Takes {key,value}.{weight [G*K, E], bias [G*K]} and, with head_norm, key_norm.weight [K], in the scope of the
  // CrossAttention that reads the memory. Throws WeightError, naming the tensor, if one is missing or does not fit.
  CrossAttentionMemory(const WeightScope& weights, const AttentionOptions& options);

  std::string_view kind() const override { return "cross_attention_memory"; }
  Shape output_shape(Shapes inputs) const override { return key_value_.output_shape(inputs); }
  DataType output_type() const override { return form_.rows.type; }
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  MemoryForm form_;
  Linear key_value_;  // E -> 2*G*K, one matmul
  HeadNorm key_norm_;
};

// Attention of a decoder to its source (Vaswani et al. 2017, section 3.2.3): each target row attends to the memory rows
// [first_memory_row, first_memory_row + memory_rows) of its sequence. If there are none, the attended values are zeros.
//   y = output(concat_h softmax(scale * q_h k_hᵀ) v_h) (+ residual);  q = query(x), k and v from the memory
//   {x: [T, D], memory: [S, 2*G*K]} or {x, memory, residual: [T, D]} -> [T, D]
// The memory has the layout of CrossAttentionMemory, for the precision of this layer or for float32; scale is
// 1 / sqrt(K) by default.
class CrossAttention final : public Layer {
 public:
  // Takes query.{weight [H*K, D], bias [H*K]}, output.{weight [D, H*K], bias [D]} and, with options.head_norm,
  // query_norm.weight [K]. Throws WeightError, naming the tensor, if one is missing or does not fit.
  CrossAttention(const WeightScope& weights, const AttentionOptions& options);

  std::string_view kind() const override { return "cross_attention"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  AttentionOptions options_;
  MemoryForm form_;
  Linear query_;  // D -> H*K
  HeadNorm query_norm_;
  Linear output_;  // H*K -> D
};

}  // namespace encdec
