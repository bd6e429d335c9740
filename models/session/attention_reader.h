#pragma once

#include <span>

#include "encdec/models/session/attention_map.h"
#include "encdec/models/session/session.h"

namespace encdec {

// Returns the tokens for read_attention(), in an AttentionMaps without maps. The decoder reads `prompt`, then `target`
// without its last token.
AttentionMaps attention_tokens(const TokenIds& source, const TokenIds& prompt, std::span<const std::int32_t> target);

// Has `session` read the tokens in `attention`, and fills attention.maps. With S source tokens and T decoder tokens,
// maps are [layers, heads, S, S] for the encoder, [layers, heads, T, T] for the decoder, and [layers, heads, T, S] for
// cross-attention. Resets the session.
// Throws ConfigError for kinds, layers and heads that the model does not have. Throws InputError if the maps would take
// more than 2 GiB.
void read_attention(Session& session, const AttentionSelection& selection, AttentionMaps& attention);

// Returns the most informative kind of attention: cross-attention, or self-attention if the model has only one stack.
AttentionKind main_kind(const TransformerConfig& config);
// Returns the attention that aligns a target with its source: main_kind() in the last layer, the mean of its heads or
// the head that was trained to align (TransformerConfig::alignment_head).
AttentionSelection alignment_selection(const TransformerConfig& config);
// Throws ConfigError if read_attention() would.
void check_selection(const TransformerConfig& config, const AttentionSelection& selection);

}  // namespace encdec
