#pragma once

#include <algorithm>
#include <vector>

#include "encdec/models/generation/generation_settings.h"
#include "encdec/models/generation/logits_processor.h"

namespace encdec {

using ScoreList = std::vector<float>;

inline const TokenIds kStart = {0};

inline ScoreList processed_by(const LogitsProcessors& rules, const TokenHistory& history, ScoreList scores) {
  ProcessorScratch scratch;
  for (const auto& rule : rules) rule.process(history, scores, scratch);
  return scores;
}

// Returns `scores` after `history` as changed by the logits processors of `settings`.
inline ScoreList processed(const GenerateOptions& settings, const TokenHistory& history, ScoreList scores) {
  return processed_by(make_logits_processors(with_neutral_values(settings)), history, std::move(scores));
}

// The same for scores 0.5, 1.5, 2.5 and 3.5 of four tokens, where the prompt is one token.
inline ScoreList processed(const GenerateOptions& settings, const TokenIds& history) {
  return processed(settings, {.tokens = history}, {0.5f, 1.5f, 2.5f, 3.5f});
}

inline bool any_changes_scores(const LogitsProcessors& rules, const TokenHistory& history) {
  return std::ranges::any_of(rules, [&](const auto& rule) { return rule.changes_scores(history); });
}

}  // namespace encdec
