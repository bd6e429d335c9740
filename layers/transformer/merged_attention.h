#pragma once

#include "encdec/layers/transformer/cross_attention.h"
#include "encdec/layers/transformer/masked_decoder_attention.h"

namespace encdec {

// Masked self-attention and cross-attention with the same projections and one softmax over both
// (T5Gemma 2; Zhang et al. 2025): each row attends to itself, to previous positions, and to its
// source.
//   {x: [T, D], key_values: [S, 2*G*K]} -> [T, D]
// Computes the attentions as MaskedDecoderAttention and CrossAttention do, then averages them,
// weighted by the sums of their exponentials. A row's result is bitwise identical whether its
// sequence is passed token by token or at once. Keys of the source have no rotary positions.
// `key_values` is the output of a CrossAttentionKeyValues with the same weights.
// state.attention_observer() receives both parts of the softmax; a row's weights add up to 1.
class MergedAttention final : public Layer {
 public:
  // Takes the weights of MaskedDecoderAttention. Throws WeightError, naming the tensor.
  MergedAttention(const WeightScope& weights, const AttentionOptions& options);

  std::string_view kind() const override { return "merged_attention"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;
  KeyValueLayout key_value_form() const override { return own_.key_value_form(); }

 private:
  AttentionOptions options_;
  KeyValueStorage form_;
  MaskedDecoderAttention own_;
};

}  // namespace encdec
