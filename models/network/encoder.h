#pragma once

#include <memory>

#include "encdec/engine/graph.h"
#include "encdec/models/network/config.h"
#include "encdec/models/network/output_projection.h"

namespace encdec {

// The encoder of figure 1 (Vaswani et al. 2017), and with it what a decoder will read at every step:
//   token ids, int32 [S] -> last hidden state [S, D], then the memory of each decoder layer's cross-attention [S,
//   2*H*K]
// Weights are asked for as encoder.embedding and what else add_embedded_tokens adds, encoder.{i}.{self_attention,
// self_attention_norm, feed_forward, feed_forward_norm}, with norm first also encoder.norm, and
// decoder.{i}.cross_attention.
Graph build_encoder(const TransformerConfig& config, const WeightScope& weights, const OutputProjection& projection);

// The lowest part of both stacks: adds {embedding, token_type_embedding, embedding_norm, positional_encoding}, as far
// as the configuration has them. `tied` is the projection that has the embedding's table, or null.
Edge add_embedded_tokens(Graph& graph, const TransformerConfig& config, const StackConfig& stack,
                         const WeightScope& weights, Edge token_ids, std::shared_ptr<const Linear> tied);

}  // namespace encdec
