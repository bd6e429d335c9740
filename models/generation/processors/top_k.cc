#include "encdec/models/generation/processors/top_k.h"

#include <algorithm>
#include <functional>

#include "encdec/models/generation/processors/token_bans.h"

namespace encdec {
namespace {

// The count-th highest score; kBanned if fewer are higher than that. O(V): `best` is cut down to `count` scores once in
// `count` additions, and most scores are below `lowest` soon.
float kth_highest(std::span<const float> scores, std::size_t count) {
  std::vector<float> best;
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

}  // namespace

void TopK::process(const TokenHistory& /*history*/, std::span<float> scores) const {
  if (count_ >= scores.size()) return;
  const float lowest = kth_highest(scores, count_);
  for (float& score : scores) {
    if (score < lowest) score = kBanned;
  }
}

}  // namespace encdec
