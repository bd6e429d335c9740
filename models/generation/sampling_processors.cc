#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "encdec/models/generation/logits_processor.h"

namespace encdec {
namespace {

using RankedToken = RuleMemory::RankedToken;

// The count-th highest score; kBanned if fewer are higher than that. O(V): `best` is cut down to `count` scores once in
// `count` additions, and most scores are below `lowest` soon.
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

// Probabilities, but for a factor that all have.
void weigh(std::span<const float> scores, std::vector<float>& weights) {
  const float highest = std::ranges::max(scores);
  weights.clear();
  weights.reserve(scores.size());
  for (const float score : scores) weights.push_back(score == kBanned ? 0.0f : std::exp(score - highest));
}

// The first one in order that does not fit into `limit` together with all before it; those are moved to the front.
// Halves what is undecided instead of sorting it all: O(last - first).
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

// Divides all scores by `temperature`, which is above 0: below 1 the likeliest tokens become still likelier.
LogitsProcessor scale_by_temperature(float temperature) {
  const auto process = [=](const TokenHistory& /*history*/, Scores scores, RuleMemory& /*memory*/) {
    for (float& score : scores) score /= temperature;
  };
  return {process, [](const TokenHistory& /*history*/) { return true; }};
}

// Bans all tokens but the `count` likeliest (Fan et al. 2018, section 5.1), at least one. Tokens as likely as the last
// of them stay too.
LogitsProcessor keep_top_k(std::size_t count) {
  return {[=](const TokenHistory& /*history*/, Scores scores, RuleMemory& memory) {
    if (count >= scores.size()) return;
    const float lowest = kth_highest(scores, count, memory.scores);
    for (float& score : scores) {
      if (score < lowest) score = kBanned;
    }
  }};
}

// Bans the least likely tokens, as many as have a probability of at most 1 - p together (Holtzman et al. 2020, section
// 3.1); `min_tokens`, at least one, stay in any case. Of equally likely tokens those with higher ids go first, so that
// p = 0 leaves what greedy search takes; transformers leaves their order open.
LogitsProcessor keep_top_p(float p, std::size_t min_tokens) {
  return {[tail = 1.0 - double{p}, min_tokens](const TokenHistory& /*history*/, Scores scores, RuleMemory& memory) {
    std::vector<float>& weights = memory.scores;
    weigh(scores, weights);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    if (!std::isfinite(total)) return;  // not a distribution
    double limit = tail * total;
    // However many weigh less, they fit into the limit: most tokens of a large vocabulary need not be put in order.
    float negligible = static_cast<float>(limit / static_cast<double>(scores.size()));
    const auto others = std::ranges::count_if(weights, [negligible](float weight) { return weight >= negligible; });
    if (static_cast<std::size_t>(others) < min_tokens) negligible = 0.0f;

    std::vector<RankedToken>& ranked = memory.ranked;
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
    RankedToken* const last = end - min_tokens;  // those from here on stay
    std::nth_element(begin, last, end, is_less_likely);
    const RankedToken* const kept = first_beyond(limit, begin, last);
    for (const RankedToken* token = begin; token != kept; ++token) scores[token->token] = kBanned;
  }};
}

}  // namespace

LogitsProcessors make_sampling_processors(const GenerateOptions& settings) {
  // Beams must be able to go on when all end tokens are drawn.
  const std::size_t least = *settings.num_beams > 1 ? std::max<std::size_t>(settings.eos_tokens->size(), 1) + 1 : 1;
  LogitsProcessors rules;
  if (*settings.temperature != 1.0f) rules.push_back(scale_by_temperature(*settings.temperature));
  if (*settings.top_k > 0) rules.push_back(keep_top_k(std::max(static_cast<std::size_t>(*settings.top_k), least)));
  if (*settings.top_p < 1.0f) rules.push_back(keep_top_p(*settings.top_p, least));
  return rules;
}

}  // namespace encdec
