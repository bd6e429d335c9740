#pragma once

#include "encdec/engine/key_value_cache.h"
#include "encdec/layers/transformer/self_attention_projections.h"

namespace encdec {

// Masked self-attention of a decoder (Vaswani et al. 2017, section 3.2.3): each row attends to itself and to the
// earlier positions of its sequence, including those of earlier runs. The formula is that of MultiHeadAttention.
//   {x: [T, D]} or {x, residual: [T, D]} -> [T, D]
// A run writes the keys and values of its rows to the layer's cache; state.cache_index has the cache row of each
// position. A row gets the same result, bit by bit, whether its sequence is passed one token at a time or at once.
// REQUIRES: each sequence's slot in state.cache_index has at least past + rows positions.
class MaskedDecoderAttention final : public Layer {
 public:
  // Takes the weights of SelfAttentionProjections. Throws WeightError, naming the tensor, if one is missing or does not
  // fit.
  MaskedDecoderAttention(const WeightScope& weights, const AttentionOptions& options);

  std::string_view kind() const override { return "masked_decoder_attention"; }
  Shape output_shape(Shapes inputs) const override { return projections_.output_shape(inputs); }
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;
  KeyValueForm key_value_form() const override { return form_; }

  // The steps of forward(), for layers that combine this attention with another.
  const SelfAttentionProjections& projections() const { return projections_; }
  // Caches the keys and values of `projected`, which comes from projections().project().
  void remember(const Tensor& projected, RunState& state) const;
  // Attends to the cache: queries of `projected` -> attended [T, H*K], and log_sums [T, H] if it is not null, see
  // kernels::HeadAttention.
  void attend(const Tensor& projected, Tensor& attended, Tensor* log_sums, RunState& state,
              const AttentionObserver* observer = nullptr) const;

 private:
  AttentionOptions options_;
  KeyValueForm form_;
  SelfAttentionProjections projections_;
};

}  // namespace encdec
