#include "encdec/models/generation/processors/top_p.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "encdec/models/generation/processors/token_bans.h"

namespace encdec {
namespace {

struct Candidate {
  float score;
  float weight;
  std::uint32_t token;

  // Whether it goes first.
  bool operator<(const Candidate& other) const {
    return score != other.score ? score < other.score : token > other.token;
  }
};

// Probabilities, but for a factor that all have.
std::vector<float> weights_of(std::span<const float> scores) {
  const float highest = std::ranges::max(scores);
  std::vector<float> weights;
  weights.reserve(scores.size());
  for (const float score : scores) weights.push_back(score == kBanned ? 0.0f : std::exp(score - highest));
  return weights;
}

// The first one in order that does not fit into `limit` together with all before it; those are moved to the front.
// Halves what is undecided instead of sorting it all: O(last - first).
Candidate* first_beyond(double limit, Candidate* first, Candidate* last) {
  for (double sum = 0.0; first != last;) {
    Candidate* const middle = first + (last - first) / 2;
    std::nth_element(first, middle, last);
    double with_middle = sum;
    for (const Candidate* candidate = first; candidate <= middle; ++candidate) with_middle += double{candidate->weight};
    if (with_middle <= limit) {
      sum = with_middle;
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

}  // namespace

void TopP::process(const TokenHistory& /*history*/, std::span<float> scores) const {
  const std::vector<float> weights = weights_of(scores);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!std::isfinite(total)) return;  // not a distribution
  double limit = tail_ * total;
  // However many weigh less, they fit into the limit: most tokens of a large vocabulary need not be put in order.
  float negligible = static_cast<float>(limit / static_cast<double>(scores.size()));
  const auto others = std::ranges::count_if(weights, [negligible](float weight) { return weight >= negligible; });
  if (static_cast<std::size_t>(others) < min_tokens_) negligible = 0.0f;

  std::vector<Candidate> candidates;
  for (std::size_t token = 0; token < scores.size(); ++token) {
    if (weights[token] < negligible) {
      limit -= double{weights[token]};
      scores[token] = kBanned;
    } else {
      candidates.push_back({scores[token], weights[token], static_cast<std::uint32_t>(token)});
    }
  }
  if (candidates.size() <= min_tokens_) return;
  Candidate* const begin = candidates.data();
  Candidate* const end = begin + candidates.size();
  Candidate* const last = end - min_tokens_;  // those from here on stay
  std::nth_element(begin, last, end);
  const Candidate* const kept = first_beyond(limit, begin, last);
  for (const Candidate* candidate = begin; candidate != kept; ++candidate) scores[candidate->token] = kBanned;
}

}  // namespace encdec
