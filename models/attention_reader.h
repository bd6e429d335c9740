#pragma once

#include <span>
#include <vector>

#include "encdec/models/attention_map.h"
#include "encdec/models/session.h"

namespace encdec {

// Attention maps of one source and target, and the tokens that their rows and columns stand for.
struct AttentionMaps {
  TokenIds source = {};  // what the encoder reads; empty in a decoder-only model
  TokenIds decoder_input =
      {};                // what the decoder reads: start token or prompt, and target; empty in an encoder-only model
  TokenIds target = {};  // by row of the decoder's attention: the token that it led to
  std::vector<AttentionMap> maps = {};
};

// How a network reads `source` and `decoder_input`, both as in AttentionMaps. `target` is what stands behind the
// decoder's input: nothing, or one token. Encoder-self maps are [.., S, S], decoder-self [.., T, T], cross [.., T, S].
// Resets the session. Throws ConfigError for kinds, layers and heads that the model does not have, InputError where the
// maps would take more than kMostAttentionBytes.
AttentionMaps read_attention(Session& session, TokenIds source, TokenIds decoder_input,
                             std::span<const std::int32_t> target, const AttentionSelection& selection);

// Throws ConfigError, as read_attention() would.
void check_selection(const TransformerConfig& config, const AttentionSelection& selection);

inline constexpr std::int64_t kMostAttentionBytes = std::int64_t{1} << 31;

}  // namespace encdec
