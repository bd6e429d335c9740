#pragma once

#include "encdec/engine/key_value_cache.h"
#include "encdec/layers/transformer/self_attention_projections.h"

namespace encdec {

// Masked self-attention (Vaswani et al. 2017, section 3.2.3): each row attends to itself and to all previous positions
// of its sequence, including positions of previous runs. Formula: see MultiHeadAttention.
//   {x: [T, D]} or {x, residual: [T, D]} -> [T, D]
// A run writes its keys and values to the layer's cache, at the rows that state.cache_index
// assigns. A row's result is bitwise identical whether its sequence is passed token by token or at
// once.
// REQUIRES: each sequence's slot in state.cache_index has at least past + rows positions.
class MaskedDecoderAttention final : public Layer {
 public:
  // Takes the weights of SelfAttentionProjections. Throws WeightError, naming the tensor.
  MaskedDecoderAttention(const WeightScope& weights, const AttentionOptions& options);

  std::string_view kind() const override { return "masked_decoder_attention"; }
  Shape output_shape(Shapes inputs) const override { return projections_.output_shape(inputs); }
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;
  KeyValueLayout key_value_form() const override { return form_; }

  // The steps of forward(), for layers that combine this attention with another.
  const SelfAttentionProjections& projections() const { return projections_; }
  // Caches the keys and values of `projected`, the result of projections().project().
  void remember(const Tensor& projected, RunState& state) const;
  // Attends to the cache: queries of `projected` -> attended [T, H*K] and, if not null, log_sums
  // [T, H]; see kernels::HeadAttention.
  void attend(const Tensor& projected, Tensor& attended, Tensor* log_sums, RunState& state,
              const AttentionObserver* observer = nullptr) const;

 private:
  AttentionOptions options_;
  KeyValueLayout form_;
  SelfAttentionProjections projections_;
};

}  // namespace encdec
