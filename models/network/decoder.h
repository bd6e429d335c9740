#pragma once

#include "encdec/engine/graph.h"
#include "encdec/models/network/config.h"
#include "encdec/models/network/output_projection.h"

namespace encdec {

// The decoder of figure 1 (Vaswani et al. 2017), for one token of each sequence or many:
//   token ids, int32 [T], and, if there is an encoder, the memory of each layer's cross-attention [S, 2*H*K]
//     -> last hidden state [T, D]
// Weights are asked for as decoder.embedding and what else add_embedded_tokens adds, decoder.{i}.{self_attention,
// self_attention_norm, cross_attention, cross_attention_norm, feed_forward, feed_forward_norm}, and with norm first
// also decoder.norm.
Graph build_decoder(const TransformerConfig& config, const WeightScope& weights, const OutputProjection& projection);

}  // namespace encdec
