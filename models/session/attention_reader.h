#pragma once

#include <span>
#include <vector>

#include "encdec/models/session/attention_map.h"
#include "encdec/models/session/session.h"

namespace encdec {

// The tokens of a target after a prompt, of which there are maps to be read. The decoder reads all but the last.
AttentionMaps attention_tokens(const TokenIds& source, const TokenIds& prompt, std::span<const std::int32_t> target);

// Has a network read such tokens, and fills in the maps: [.., S, S] of the encoder, [.., T, T] of the decoder, [.., T,
// S] across. Resets the session. Throws ConfigError for kinds, layers and heads that the model does not have,
// InputError where the maps would take more than kMostAttentionBytes.
void read_attention(Session& session, const AttentionSelection& selection, AttentionMaps& attention);

// Throws ConfigError, as read_attention() would.
void check_selection(const TransformerConfig& config, const AttentionSelection& selection);

inline constexpr std::int64_t kMostAttentionBytes = std::int64_t{1} << 31;

}  // namespace encdec
