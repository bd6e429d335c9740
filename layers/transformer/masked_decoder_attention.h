#pragma once

#include "encdec/engine/key_value_cache.h"
#include "encdec/layers/transformer/self_attention_projections.h"

namespace encdec {

// Masked self-attention of a decoder (Vaswani et al. 2017, section 3.2.3): each row attends to itself and to the
// earlier positions of its sequence, those of earlier runs among them. Formula and shapes as MultiHeadAttention.
//
// The keys and values of the rows are appended to the layer's cache, at the rows that the state's cache index holds for
// their positions: sequence.slot must have past + rows positions. A row gets the same result, bit by bit, whether its
// sequence was given one token at a time or at once.
class MaskedDecoderAttention final : public Layer {
 public:
  // Takes what SelfAttentionProjections takes. Throws WeightError, naming the tensor, if one is missing or does not
  // fit.
  MaskedDecoderAttention(const WeightScope& weights, const AttentionOptions& options);

  std::string_view kind() const override { return "masked_decoder_attention"; }
  Shape output_shape(Shapes inputs) const override { return projections_.output_shape(inputs); }
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;
  KeyValueForm key_value_form() const override { return form_; }

 private:
  AttentionOptions options_;
  KeyValueForm form_;
  SelfAttentionProjections projections_;
};

}  // namespace encdec
