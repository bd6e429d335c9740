#pragma once

#include "encdec/engine/graph.h"
#include "encdec/models/config.h"

namespace encdec {

// The encoder of figure 1 (Vaswani et al. 2017), and with it what the decoder will read at every step:
//   token ids, int32 [S] -> last hidden state [S, D], then the memory of each decoder layer's cross-attention [S, 2D]
// Weights are asked for as encoder.embedding, encoder.{i}.{self_attention, self_attention_norm, feed_forward,
// feed_forward_norm}, with norm first also encoder.norm, and decoder.{i}.cross_attention.
Graph build_encoder(const TransformerConfig& config, const WeightScope& weights);

// Token embedding and positions, the lowest part of both stacks: adds {embedding, positional_encoding}.
Edge add_embedded_tokens(Graph& graph, const TransformerConfig& config, Dim vocabulary, const WeightScope& weights,
                         Edge token_ids);

}  // namespace encdec
