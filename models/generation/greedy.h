#pragma once

#include <functional>
#include <span>
#include <vector>

#include "encdec/models/generation/generation_config.h"
#include "encdec/models/session.h"

namespace encdec {

// What was generated for one source.
struct GeneratedTokens {
  TokenIds tokens;     // without the prompt; the end token is kept where it was generated
  double score = 0.0;  // sum of the tokens' log-probabilities, before any rule banned or forced one
};

// Called for each token as it is chosen.
using TokenCallback = std::function<void(std::size_t source, std::int32_t token)>;

// One thing to generate from.
struct Prompt {
  TokenIds source;  // what the encoder reads; empty in a decoder-only model
  TokenIds target;  // what the result begins with: the start token, or a decoder-only model's prompt
};

// Greedy decoding: at each step the token with the largest logit, the smaller id of equals, until an end token or the
// length limit. All prompts go through one batch; those that end leave it at once. No target, and no source of a model
// with an encoder, is empty. Throws InputError for tokens outside the vocabulary, and BackendError where logits are not
// numbers.
std::vector<GeneratedTokens> generate_greedily(Session& session, std::span<const Prompt> prompts,
                                               const GenerationConfig& config, const TokenCallback& on_token = {});

}  // namespace encdec
