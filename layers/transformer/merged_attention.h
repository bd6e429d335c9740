#pragma once

#include "encdec/layers/transformer/cross_attention.h"
#include "encdec/layers/transformer/masked_decoder_attention.h"

namespace encdec {

// Masked self-attention and cross-attention of a decoder with the same projections and one softmax over both (T5Gemma
// 2; Zhang et al. 2025): each row attends to itself, to the earlier positions of its sequence, and to its source.
//   {x: [T, D], memory: [S, 2*G*K]} -> [T, D]
// Both attentions are computed as MaskedDecoderAttention and CrossAttention do, with the promise of the first about
// bits. The result is their mean, weighted by the sums of their exponentials. Rotary positions do not turn keys of the
// source. The memory is of a CrossAttentionMemory with the same weights. state.attention_observer() has both parts of
// the softmax; together the weights of a row have the sum 1.
class MergedAttention final : public Layer {
 public:
  // Takes the weights of MaskedDecoderAttention. Throws WeightError, naming the tensor, if one is missing or does not
  // fit.
  MergedAttention(const WeightScope& weights, const AttentionOptions& options);

  std::string_view kind() const override { return "merged_attention"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;
  KeyValueForm key_value_form() const override { return own_.key_value_form(); }

 private:
  AttentionOptions options_;
  MemoryForm form_;
  MaskedDecoderAttention own_;
};

}  // namespace encdec
