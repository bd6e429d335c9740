#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "encdec/models/generation/generate_options.h"
#include "encdec/models/session/token_ids.h"

namespace encdec {

// The decoder's tokens so far: a prompt (the start token and a prefix, where there is an encoder), and what was
// generated.
struct TokenHistory {
  std::span<const std::int32_t> tokens;
  std::size_t prompt_length = 1;
  std::span<const std::int32_t> source = {};  // what the encoder read
  std::size_t new_token_limit = 0;            // most tokens that may follow the prompt

  std::size_t generated() const { return tokens.size() - prompt_length; }
  // What rules about the input look at: what the encoder read, or the prompt of a model without one.
  std::span<const std::int32_t> input() const { return source.empty() ? tokens.first(prompt_length) : source; }
};

// Room that rules compute in, so that no step allocates: one for each thread, for all rules and rows.
struct RuleMemory {
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

// One rule about what may come next. Scores are logits in greedy search and sampling, and log-probabilities in beam
// search. Read-only, used by many sequences at once. After transformers' LogitsProcessor.
struct LogitsProcessor {
  // Changes the scores of one step in place, -infinity for what must not come.
  std::function<void(const TokenHistory& history, Scores scores, RuleMemory& memory)> process;
  // Whether it may, at this step, change scores of tokens that it does not ban.
  std::function<bool(const TokenHistory& history)> changes_scores = [](const TokenHistory&) { return false; };
};

using LogitsProcessors = std::vector<LogitsProcessor>;

// The rules that settings with_neutral_values() ask for, in transformers' order.
LogitsProcessors make_logits_processors(const GenerateOptions& settings);

// What makes a distribution to sample from, after the rules: temperature, top-k, top-p.
LogitsProcessors make_sampling_processors(const GenerateOptions& settings);

// The score of a token that must not come.
inline constexpr float kBanned = -std::numeric_limits<float>::infinity();

}  // namespace encdec
