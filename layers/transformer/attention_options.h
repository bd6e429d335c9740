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

// Options of all attention layers.
struct AttentionOptions {
  Dim model_dim = 0;                          // D
  int heads = 1;                              // H
  Dim head_dim = 0;                           // K; 0 means D / H
  Bias bias = Bias::required;                 // biases of the query, value and output projections
  std::optional<Bias> key_bias = {};          // bias of the key projection; unset: `bias`
  Residual residual = Residual::none;         // the last input is added to the output
  std::optional<NormOptions> head_norm = {};  // rms norm of queries and keys; not in GatheredAttention
  float score_scale = 0.0f;                   // factor of the scores; 0: 1 / sqrt(K)
  float score_cap = 0.0f;                     // c: a score s becomes c * tanh(s / c); 0: no cap
  // Number of heads of keys and values, shared by groups of heads (Ainslie et al. 2023): head h
  // reads head h / (H / key_value_heads). 0 means H.
  int key_value_heads = 0;
  Dim encoder_dim = 0;  // width of the encoder output in cross-attention; 0 means D
  // For self-attention only.
  RelativePositions relative_positions = {};
  DisentangledOptions disentangled_positions = {};  // not in a decoder
  RotaryOptions rotary = {};
  kernels::KeyLimits limits = {};  // a query's keys; MaskedDecoderAttention hides all later ones
  bool in_pieces = false;          // sequences may come in chunks; see MultiHeadAttention

  // Returns H * K. Throws ShapeError if H is less than 1 or not a multiple of key_value_heads, or
  // if head_dim is 0 and D is not a multiple of H.
  Dim inner_dim() const;
  int heads_per_key() const { return key_value_heads == 0 ? 1 : heads / key_value_heads; }
  // Returns the width of all heads' keys, which is also the width of all heads' values.
  Dim key_value_dim() const { return inner_dim() / heads_per_key(); }
  float scale() const { return score_scale != 0 ? score_scale : 1.0f / std::sqrt(static_cast<float>(head_width())); }
  Dim head_width() const { return inner_dim() / heads; }
  // The output projection, H*K -> D.
  LinearOptions output_projection() const {
    return {.input_width = inner_dim(), .output_width = model_dim, .bias = bias, .residual = residual};
  }
};

// Returns the layout in which attention stores keys and values.
KeyValueLayout key_value_layout_of(const AttentionOptions& options, Precision precision);

}  // namespace encdec
