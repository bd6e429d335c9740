#pragma once

#include <functional>
#include <span>
#include <vector>

#include "encdec/models/generation/generation_config.h"
#include "encdec/models/session.h"

namespace encdec {

// What was generated for one source.
struct GeneratedTokens {
  TokenIds tokens;     // without the start token; the end token is kept where it was generated
  double score = 0.0;  // sum of the tokens' log-probabilities, before any rule banned or forced one
};

// Called for each token as it is chosen.
using TokenCallback = std::function<void(std::size_t source, std::int32_t token)>;

// Greedy decoding: at each step the token with the largest logit, the smaller id of equals, until an end token or the
// length limit. All sources, none of them empty, go through one batch; those that end leave it at once.
// Throws InputError for tokens outside the vocabulary, and BackendError where logits are not numbers.
std::vector<GeneratedTokens> generate_greedily(Session& session, std::span<const TokenIds> sources,
                                               const GenerationConfig& config, const TokenCallback& on_token = {});

}  // namespace encdec
