#pragma once

#include <span>

#include "encdec/models/session/attention_map.h"
#include "encdec/models/session/session.h"

namespace encdec {

// Returns tokens for read_attention(). The decoder reads `prompt`, then `target` without its last token.
AttentionMaps attention_tokens(const TokenIds& source, const TokenIds& prompt, std::span<const std::int32_t> target);

// Runs `session` on the tokens in `attention`, sets attention.maps, and resets the session. With S
// source and T decoder tokens, maps are [layers, heads, S, S] (encoder), [layers, heads, T, T]
// (decoder) and [layers, heads, T, S] (cross-attention). Throws ConfigError for kinds, layers and
// heads that the model does not have, and InputError for maps of more than 2 GiB.
void read_attention(Session& session, const AttentionSelection& selection, AttentionMaps& attention);

// Returns the most informative kind: cross-attention, or else the only stack's self-attention.
AttentionKind main_kind(const TransformerConfig& config);
// Returns the attention that aligns a target with its source: main_kind() in the last layer, with
// TransformerConfig::alignment_head or else the mean of all heads.
AttentionSelection alignment_selection(const TransformerConfig& config);
// Throws ConfigError if read_attention() would throw ConfigError for this selection.
void check_selection(const TransformerConfig& config, const AttentionSelection& selection);

}  // namespace encdec
