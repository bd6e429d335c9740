#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

namespace encdec {

// The score of a token that must not come.
inline constexpr float kBanned = -std::numeric_limits<float>::infinity();

// The score of a token; null for those of another vocabulary: a source's may be larger, and Marian's start token of
// zeros stands after the last one.
inline float* score_of(std::int32_t token, std::span<float> scores) {
  const auto index = static_cast<std::size_t>(token);
  return index < scores.size() ? &scores[index] : nullptr;
}

inline void ban(std::int32_t token, std::span<float> scores) {
  if (float* score = score_of(token, scores)) *score = kBanned;
}

inline void ban(std::span<const std::int32_t> tokens, std::span<float> scores) {
  for (const std::int32_t token : tokens) ban(token, scores);
}

// Bans all but `tokens`, whose scores become 0.
inline void force(std::span<const std::int32_t> tokens, std::span<float> scores) {
  std::ranges::fill(scores, kBanned);
  for (const std::int32_t token : tokens) {
    if (float* score = score_of(token, scores)) *score = 0.0f;
  }
}

}  // namespace encdec
