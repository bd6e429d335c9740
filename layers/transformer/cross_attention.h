#pragma once

#include "encdec/layers/transformer/attention_heads.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

// Keys and values of the encoder's output for one cross-attention, computed once per source and read at every step.
//   encoder output [S, D] -> [S, 2*H*K], elements of key_value_form_of() the precision
// The rows of a source together hold its keys [H, rows, K] and then its values [H, rows, K]: a head's attention reads
// whole stretches; those of packs_memory() in the order of kernels::pack_bfloat16_keys and _values.
class CrossAttentionMemory final : public Layer {
 public:
  // Takes {key,value}.{weight [H*K, D], bias [H*K]}, of the scope of the CrossAttention that will read it.
  // Throws WeightError, naming the tensor, if one is missing or does not fit.
  CrossAttentionMemory(const WeightScope& weights, const AttentionOptions& options);

  std::string_view kind() const override { return "cross_attention_memory"; }
  Shape output_shape(Shapes inputs) const override;
  DataType output_type() const override { return form_.type; }
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  KeyValueForm form_;
  bool packed_;
  Linear key_value_;  // D -> 2*H*K, one matmul
};

// Attention of a decoder to its source (Vaswani et al. 2017, section 3.2.3): each target row attends to the rows
// [memory_first, memory_first + memory_rows) of its sequence; a sequence without source rows gets zeros.
//   y = output(concat_h softmax(q_h k_hᵀ / sqrt(K)) v_h) (+ residual);  q = query(x), k and v from the memory
//   {x: [T, D], memory: [S, 2*H*K]} or {x, memory, residual: [T, D]} -> [T, D]
// The memory's rows of each source are as CrossAttentionMemory gives them.
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
