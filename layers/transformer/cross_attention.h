#pragma once

#include "encdec/layers/transformer/head_norm.h"
#include "encdec/layers/transformer/key_value_storage.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

// Keys and values of the encoder output for one cross-attention, computed once per source and read
// in every decoding step.
//   encoder output [S, E] -> [S, 2*G*K], float32 or bfloat16; see key_value_layout_of()
// G is the number of key/value heads. The rows of a source hold its keys [G, rows, K], then its
// values [G, rows, K], so that a head reads contiguous memory. With packs_key_values(), each head is in
// the order of kernels::pack_bfloat16_keys() and kernels::pack_bfloat16_values().
class CrossAttentionKeyValues final : public Layer {
 public:
  // Takes {key,value}.{weight [G*K, E], bias [G*K]} and, with head_norm, key_norm.weight [K], in
  // the scope of the CrossAttention that reads the result. Throws WeightError, naming the tensor.
  CrossAttentionKeyValues(const WeightScope& weights, const AttentionOptions& options);

  std::string_view kind() const override { return "cross_attention_key_values"; }
  Shape output_shape(Shapes inputs) const override { return key_value_.output_shape(inputs); }
  DataType output_type() const override { return form_.rows.type; }
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  KeyValueStorage form_;
  Linear key_value_;  // E -> 2*G*K
  HeadNorm key_norm_;
};

// Cross-attention (Vaswani et al. 2017, section 3.2.3): target rows attend to the encoder output of
// their sequence, rows [first_source_row, first_source_row + source_rows). Without such rows the
// attended values are zeros.
//   y = output(concat_h softmax(scale * q_h k_hᵀ) v_h) (+ residual);  q = query(x)
//   {x: [T, D], key_values: [S, 2*G*K]} or {x, key_values, residual: [T, D]} -> [T, D]
// `key_values` is the output of a CrossAttentionKeyValues in the precision of this layer, or in float32.
class CrossAttention final : public Layer {
 public:
  // Takes query.{weight [H*K, D], bias [H*K]}, output.{weight [D, H*K], bias [D]} and, with
  // options.head_norm, query_norm.weight [K]. Throws WeightError, naming the tensor.
  CrossAttention(const WeightScope& weights, const AttentionOptions& options);

  std::string_view kind() const override { return "cross_attention"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  AttentionOptions options_;
  KeyValueStorage form_;
  Linear query_;  // D -> H*K
  HeadNorm query_norm_;
  Linear output_;  // H*K -> D
};

}  // namespace encdec
