#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "encdec/models/generation/generate_options.h"
#include "encdec/models/session/token_ids.h"

namespace encdec {

// The decoder's tokens so far: the prompt, then the generated tokens. For a model with an encoder the prompt is the
// start token, the token of the target language if the model has one, and the user's prefix.
struct TokenHistory {
  std::span<const std::int32_t> tokens;
  std::size_t prompt_length = 1;
  std::span<const std::int32_t> source = {};  // tokens read by the encoder
  std::size_t new_token_limit = 0;            // maximum number of tokens after the prompt

  // Returns the number of generated tokens.
  std::size_t generated() const { return tokens.size() - prompt_length; }
  // Returns the input tokens: the encoder's source, or the prompt of a decoder-only model.
  std::span<const std::int32_t> input() const { return source.empty() ? tokens.first(prompt_length) : source; }
};

// Scratch buffers of a thread, shared by all logits processors and rows so that steps do not allocate.
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

// One rule about the next token, like transformers' LogitsProcessor. Scores are logits in greedy search and sampling.
// In beam search they are log-probabilities, or logits in a step in which processors only ban tokens. Thread-safe.
struct LogitsProcessor {
  // Changes the scores of one step in place. Sets the score of a banned token to kBanned.
  std::function<void(const TokenHistory& history, Scores scores, ProcessorScratch& scratch)> process;
  // Returns whether process() may change scores at this step other than by banning tokens.
  std::function<bool(const TokenHistory& history)> changes_scores = [](const TokenHistory&) { return false; };
};

using LogitsProcessors = std::vector<LogitsProcessor>;

// Returns the logits processors for `settings`, in transformers' order. REQUIRES: `settings` is the result of
// with_neutral_values().
LogitsProcessors make_logits_processors(const GenerateOptions& settings);

// Returns the processors that run last when sampling: temperature, top-k, top-p. REQUIRES: as above.
LogitsProcessors make_sampling_processors(const GenerateOptions& settings);

// The score of a banned token.
inline constexpr float kBanned = -std::numeric_limits<float>::infinity();

// Draws a token with probabilities softmax(scores): returns the first one at which the cumulative probability exceeds
// `uniform`. Returns -1 if all tokens are banned.
std::int32_t draw(std::span<const float> scores, double uniform);

}  // namespace encdec
