#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

std::int32_t draw(std::span<const float> scores, double uniform) {
  // Subtract the largest score so that exp() cannot overflow.
  const float largest = std::ranges::max(scores);
  if (largest == kBanned) return -1;
  const auto weight = [largest](float score) {
    return score == kBanned ? 0.0 : std::exp(static_cast<double>(score) - largest);
  };
  double total = 0;
  for (const float score : scores) total += weight(score);
  // Add the weights of tokens by ascending id, until the sum exceeds `uniform` times the total.
  const double goal = uniform * total;
  double sum = 0;
  std::int32_t last = -1;
  for (std::size_t i = 0; i < scores.size() && sum <= goal; ++i) {
    const double part = weight(scores[i]);
    if (part > 0) last = static_cast<std::int32_t>(i);
    sum += part;
  }
  return last;
}

namespace {

using RankedToken = ProcessorScratch::RankedToken;

// Returns the count-th highest score, or kBanned if there are fewer than `count` unbanned tokens.
// Drops the lower half of `best`, a scratch buffer, when it has 2 * `count` scores; so the time is O(V).
float kth_highest(std::span<const float> scores, std::size_t count, std::vector<float>& best) {
  best.clear();
  best.reserve(2 * count);
  float lowest = kBanned;
  const auto cut_down = [&] {
    const auto last = best.begin() + static_cast<std::ptrdiff_t>(count) - 1;
    std::ranges::nth_element(best, last, std::greater());
    lowest = *last;
    best.resize(count);
  };
  for (const float score : scores) {
    if (!(score > lowest)) continue;
    best.push_back(score);
    if (best.size() == 2 * count) cut_down();
  }
  if (best.size() < count) return kBanned;
  cut_down();
  return lowest;
}

// Orders tokens from the least to the most likely. Among equally likely tokens, higher ids come first.
bool is_less_likely(const RankedToken& a, const RankedToken& b) {
  return a.score != b.score ? a.score < b.score : a.token > b.token;
}

// Computes unnormalised probabilities: exp(score - highest score), or 0 for banned tokens.
void weigh(std::span<const float> scores, std::vector<float>& weights) {
  const float highest = std::ranges::max(scores);
  weights.clear();
  weights.reserve(scores.size());
  for (const float score : scores) weights.push_back(score == kBanned ? 0.0f : std::exp(score - highest));
}

// Moves the least likely tokens to the front while their total weight is at most `limit`, and returns
// the end of this group. Halves the undecided range instead of sorting: O(last - first).
RankedToken* first_beyond(double limit, RankedToken* first, RankedToken* last) {
  for (double sum = 0.0; first != last;) {
    RankedToken* const middle = first + (last - first) / 2;
    std::nth_element(first, middle, last, is_less_likely);
    double with_middle = sum;
    for (const RankedToken* token = first; token <= middle; ++token) with_middle += double{token->weight};
    if (with_middle <= limit) {
      sum = with_middle;
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

// Divides all scores by `temperature`. Temperatures below 1 make likely tokens likelier. REQUIRES: temperature > 0.
LogitsProcessor scale_by_temperature(float temperature) {
  const auto process = [=](const TokenHistory& /*history*/, Scores scores, ProcessorScratch& /*scratch*/) {
    for (float& score : scores) score /= temperature;
  };
  return {process, [](const TokenHistory& /*history*/) { return true; }};
}

// Bans all tokens that are less likely than number `count` of the likeliest tokens (Fan et al. 2018, section 5.1).
// REQUIRES: count >= 1.
LogitsProcessor keep_top_k(std::size_t count) {
  return {[=](const TokenHistory& /*history*/, Scores scores, ProcessorScratch& scratch) {
    if (count >= scores.size()) return;
    const float lowest = kth_highest(scores, count, scratch.scores);
    for (float& score : scores) {
      if (score < lowest) score = kBanned;
    }
  }};
}

// Bans the least likely tokens while their total probability is at most 1 - p (Holtzman et al. 2020,
// section 3.1), but keeps the `min_tokens` likeliest. Among equally likely tokens, bans higher ids
// first, so that p = 0 keeps the token that greedy search takes. REQUIRES: min_tokens >= 1.
LogitsProcessor keep_top_p(float p, std::size_t min_tokens) {
  return {
      [tail = 1.0 - double{p}, min_tokens](const TokenHistory& /*history*/, Scores scores, ProcessorScratch& scratch) {
        std::vector<float>& weights = scratch.scores;
        weigh(scores, weights);
        const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
        if (!std::isfinite(total)) return;  // the weights are not a distribution
        double limit = tail * total;
        // All tokens below this weight together stay below the limit, so they can be banned without sorting.
        float negligible = static_cast<float>(limit / static_cast<double>(scores.size()));
        const auto others = std::ranges::count_if(weights, [negligible](float weight) { return weight >= negligible; });
        if (static_cast<std::size_t>(others) < min_tokens) negligible = 0.0f;

        // Ban the negligible tokens, and collect the others to rank them.
        std::vector<RankedToken>& ranked = scratch.ranked;
        ranked.clear();
        ranked.reserve(scores.size());
        for (std::size_t token = 0; token < scores.size(); ++token) {
          if (weights[token] < negligible) {
            limit -= double{weights[token]};
            scores[token] = kBanned;
          } else {
            ranked.push_back({scores[token], weights[token], static_cast<std::uint32_t>(token)});
          }
        }
        if (ranked.size() <= min_tokens) return;
        // Keep the likeliest `min_tokens`. Ban the least likely other tokens, up to the limit.
        RankedToken* const begin = ranked.data();
        RankedToken* const end = begin + ranked.size();
        RankedToken* const last = end - min_tokens;
        std::nth_element(begin, last, end, is_less_likely);
        const RankedToken* const kept = first_beyond(limit, begin, last);
        for (const RankedToken* token = begin; token != kept; ++token) scores[token->token] = kBanned;
      }};
}

}  // namespace

LogitsProcessors make_sampling_processors(const GenerateOptions& settings) {
  // Beam search needs at least one token that is not an end token.
  const std::size_t least = *settings.num_beams > 1 ? std::max<std::size_t>(settings.eos_tokens->size(), 1) + 1 : 1;
  LogitsProcessors rules;
  if (*settings.temperature != 1.0f) rules.push_back(scale_by_temperature(*settings.temperature));
  if (*settings.top_k > 0) rules.push_back(keep_top_k(std::max(static_cast<std::size_t>(*settings.top_k), least)));
  if (*settings.top_p < 1.0f) rules.push_back(keep_top_p(*settings.top_p, least));
  return rules;
}

}  // namespace encdec
