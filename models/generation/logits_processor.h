#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "encdec/models/generation/generate_options.h"
#include "encdec/models/session/token_ids.h"

namespace encdec {

// The decoder's tokens so far: the prompt, then the generated tokens. For a model with an encoder,
// the prompt consists of the start token, in some models the target language, and the user's prefix.
struct TokenHistory {
  std::span<const std::int32_t> tokens;
  std::size_t prompt_length = 1;
  std::span<const std::int32_t> source = {};  // tokens that the encoder has read
  std::size_t new_token_limit = 0;            // maximum number of tokens after the prompt

  std::size_t generated() const { return tokens.size() - prompt_length; }
  // Returns the encoder's tokens or a decoder-only model's prompt.
  std::span<const std::int32_t> input() const { return source.empty() ? tokens.first(prompt_length) : source; }
};

// Scratch buffers of one thread, reused by all logits processors so that steps do not allocate.
struct ProcessorScratch {
  struct RankedToken {
    float score;
    float weight;
    std::uint32_t token;
  };
  std::vector<std::int32_t> tokens;
  std::vector<float> scores;
  std::vector<RankedToken> ranked;
};

using Scores = std::span<float>;  // [V]

// A rule about the next token, like transformers' LogitsProcessor. The scores are logits in greedy
// search and sampling. In beam search they are log-probabilities, or logits if all processors only
// ban tokens in this step. Thread-safe.
struct LogitsProcessor {
  // Changes the scores of one step in place; kBanned bans a token.
  std::function<void(const TokenHistory& history, Scores scores, ProcessorScratch& scratch)> process;
  // Returns whether process() may do more at this step than ban tokens.
  std::function<bool(const TokenHistory& history)> changes_scores = [](const TokenHistory&) { return false; };
};

using LogitsProcessors = std::vector<LogitsProcessor>;

// Returns the logits processors for a result of with_neutral_values(), in transformers' order.
LogitsProcessors make_logits_processors(const GenerateOptions& settings);

// Returns the processors that run last in sampling: temperature, top-k, top-p. `settings` as above.
LogitsProcessors make_sampling_processors(const GenerateOptions& settings);

inline constexpr float kBanned = -std::numeric_limits<float>::infinity();

// Draws a token from softmax(scores): returns the first token at which the cumulative probability
// exceeds `uniform`, or -1 if all tokens are banned.
std::int32_t draw(std::span<const float> scores, double uniform);

}  // namespace encdec
