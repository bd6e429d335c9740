#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

std::int32_t draw(std::span<const float> scores, double uniform) {
  const float largest = std::ranges::max(scores);
  if (largest == kBanned) return -1;
  const auto weight = [largest](float score) {
    return score == kBanned ? 0.0 : std::exp(static_cast<double>(score) - largest);
  };
  double total = 0;
  for (const float score : scores) total += weight(score);
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

// Returns the count-th highest score; kBanned if there are fewer than `count` unbanned tokens. Keeps up to 2 * `count`
// scores in `best` (scratch) and then drops the lower half, which takes O(V) in total.
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

bool is_less_likely(const RankedToken& a, const RankedToken& b) {
  return a.score != b.score ? a.score < b.score : a.token > b.token;
}

// Computes unnormalised probabilities: exp(score - highest score), 0 for banned tokens.
void weigh(std::span<const float> scores, std::vector<float>& weights) {
  const float highest = std::ranges::max(scores);
  weights.clear();
  weights.reserve(scores.size());
  for (const float score : scores) weights.push_back(score == kBanned ? 0.0f : std::exp(score - highest));
}

// Moves the least likely tokens, whose total weight is at most `limit`, to the front, and returns the end of these.
// Halves the undecided range instead of sorting it: O(last - first).
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

// Divides all scores by `temperature`; below 1 likely tokens become likelier. REQUIRES: temperature > 0.
LogitsProcessor scale_by_temperature(float temperature) {
  const auto process = [=](const TokenHistory& /*history*/, Scores scores, ProcessorScratch& /*scratch*/) {
    for (float& score : scores) score /= temperature;
  };
  return {process, [](const TokenHistory& /*history*/) { return true; }};
}

// Bans all tokens except the `count` likeliest (Fan et al. 2018, section 5.1). Tokens as likely as the least likely of
// these stay too. REQUIRES: count >= 1.
LogitsProcessor keep_top_k(std::size_t count) {
  return {[=](const TokenHistory& /*history*/, Scores scores, ProcessorScratch& scratch) {
    if (count >= scores.size()) return;
    const float lowest = kth_highest(scores, count, scratch.scores);
    for (float& score : scores) {
      if (score < lowest) score = kBanned;
    }
  }};
}

// Bans the least likely tokens, whose total probability is at most 1 - p (Holtzman et al. 2020, section 3.1). Keeps at
// least the `min_tokens` likeliest. Of equally likely tokens bans higher ids first, so that p = 0 keeps the token of
// greedy search; transformers does not define their order. REQUIRES: min_tokens >= 1.
LogitsProcessor keep_top_p(float p, std::size_t min_tokens) {
  return {
      [tail = 1.0 - double{p}, min_tokens](const TokenHistory& /*history*/, Scores scores, ProcessorScratch& scratch) {
        std::vector<float>& weights = scratch.scores;
        weigh(scores, weights);
        const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
        if (!std::isfinite(total)) return;  // not a distribution
        double limit = tail * total;
        // All tokens below this weight can be banned: even V such tokens do not exceed the limit. So most tokens of a
        // large vocabulary need no ordering.
        float negligible = static_cast<float>(limit / static_cast<double>(scores.size()));
        const auto others = std::ranges::count_if(weights, [negligible](float weight) { return weight >= negligible; });
        if (static_cast<std::size_t>(others) < min_tokens) negligible = 0.0f;

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
        RankedToken* const begin = ranked.data();
        RankedToken* const end = begin + ranked.size();
        RankedToken* const last = end - min_tokens;  // these and later ones stay
        std::nth_element(begin, last, end, is_less_likely);
        const RankedToken* const kept = first_beyond(limit, begin, last);
        for (const RankedToken* token = begin; token != kept; ++token) scores[token->token] = kBanned;
      }};
}

}  // namespace

LogitsProcessors make_sampling_processors(const GenerateOptions& settings) {
  // Beam search needs a token that is not an end token, even if all end tokens are kept.
  const std::size_t least = *settings.num_beams > 1 ? std::max<std::size_t>(settings.eos_tokens->size(), 1) + 1 : 1;
  LogitsProcessors rules;
  if (*settings.temperature != 1.0f) rules.push_back(scale_by_temperature(*settings.temperature));
  if (*settings.top_k > 0) rules.push_back(keep_top_k(std::max(static_cast<std::size_t>(*settings.top_k), least)));
  if (*settings.top_p < 1.0f) rules.push_back(keep_top_p(*settings.top_p, least));
  return rules;
}

}  // namespace encdec
