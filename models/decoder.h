#pragma once

#include "encdec/engine/graph.h"
#include "encdec/models/config.h"

namespace encdec {

// The decoder of figure 1 (Vaswani et al. 2017), for one token of each sequence or many:
//   token ids, int32 [T], and the memory of each layer's cross-attention [S, 2D] -> logits [T, V]
// Weights are asked for as decoder.embedding, decoder.{i}.{self_attention, self_attention_norm, cross_attention,
// cross_attention_norm, feed_forward, feed_forward_norm}, with norm first also decoder.norm, and output_projection.
Graph build_decoder(const TransformerConfig& config, const WeightScope& weights);

}  // namespace encdec
