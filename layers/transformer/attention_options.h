#pragma once

#include <cmath>
#include <optional>

#include "encdec/engine/kernels/attention_rows.h"
#include "encdec/engine/key_value_cache.h"
#include "encdec/layers/transformer/add_norm.h"
#include "encdec/layers/transformer/disentangled_positions.h"
#include "encdec/layers/transformer/linear.h"
#include "encdec/layers/transformer/relative_position_bias.h"
#include "encdec/layers/transformer/rotary_positions.h"

namespace encdec {

// Options of multi-head self-attention, masked self-attention and cross-attention.
struct AttentionOptions {
  Dim model_dim = 0;                          // D
  int heads = 1;                              // H
  Dim head_dim = 0;                           // K; 0 means D / H
  Bias bias = Bias::required;                 // bias of the query, value and output projections
  std::optional<Bias> key_bias = {};          // bias of the key projection; unset: `bias`
  Residual residual = Residual::none;         // whether the layer adds its last input to its output
  std::optional<NormOptions> head_norm = {};  // rms norm of a head's queries and keys; not in GatheredAttention
  float score_scale = 0.0f;  // factor of the scores; 0 means 1 / sqrt(K) (Vaswani et al. 2017, section 3.2.1)
  float score_cap = 0.0f;    // c: a score s becomes c * tanh(s / c) before positions add a bias; 0: it stays
  // Heads of keys and values, which groups of heads share (Ainslie et al. 2023): head h reads head
  // h / (H / key_value_heads) of them. 0 means H.
  int key_value_heads = 0;
  Dim memory_dim = 0;  // width of the encoder output that cross-attention reads; 0 means D
  // For self-attention only.
  RelativePositions relative_positions = {};
  DisentangledOptions disentangled_positions = {};  // not in a decoder
  RotaryOptions rotary = {};
  kernels::KeyLimits limits = {};  // keys that a query sees; MaskedDecoderAttention sees none after it
  bool in_pieces = false;          // whether a sequence may come in pieces; see MultiHeadAttention

  // Returns H * K, the width of all heads together. Throws ShapeError if H is less than 1 or not a multiple of
  // key_value_heads, or if head_dim is 0 and D is not a multiple of H.
  Dim inner_dim() const;
  // Returns the number of heads that read the same keys and values.
  int heads_per_key() const { return key_value_heads == 0 ? 1 : heads / key_value_heads; }
  // Returns the width of the keys of all heads together. The values have the same width.
  Dim key_value_dim() const { return inner_dim() / heads_per_key(); }
  // Returns the factor of the scores: score_scale, or 1 / sqrt(K) if that is 0.
  float scale() const { return score_scale != 0 ? score_scale : 1.0f / std::sqrt(static_cast<float>(head_width())); }
  // Returns K: head_dim, or D / H if that is 0.
  Dim head_width() const { return inner_dim() / heads; }
  // Returns the options of the output projection, H*K -> D.
  LinearOptions output_projection() const {
    return {.input_width = inner_dim(), .output_width = model_dim, .bias = bias, .residual = residual};
  }
};

// Returns the form in which an attention with these options keeps keys and values, for matmuls of `precision`.
KeyValueForm key_value_form_of(const AttentionOptions& options, Precision precision);

}  // namespace encdec
