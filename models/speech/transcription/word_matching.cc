#include "encdec/models/speech/transcription/word_matching.h"

#include <algorithm>
#include <cmath>

#include "encdec/engine/base/cancellation.h"

namespace encdec {
namespace {

// A chain of pairs by its last one.
struct Chain {
  std::size_t heard = 0, text = 0;  // indices of the words of the pair
  double score = 0;
  const Chain* before = nullptr;
};

double logarithm(std::size_t skipped) {
  return std::log2(1 + static_cast<double>(skipped));
}

double gap_score(std::size_t heard, std::size_t text) {
  const std::size_t least = std::min(heard, text), more = std::max(heard, text) - least;
  return -static_cast<double>(least) - (more > 0 ? 2.5 : 0) - 0.2 * static_cast<double>(more);
}

}  // namespace

WordPairs match_words(std::span<const std::string_view> heard, std::span<const std::string_view> text) {
  constexpr double kPair = 2, kEnough = 4;
  constexpr std::size_t kNear = 256;  // pairs that are tried as the previous one: enough unless few words are repeated
  std::vector<Chain> chains;
  for (std::size_t j = 0; j < text.size(); ++j) {
    for (std::size_t i = 0; i < heard.size(); ++i) {
      if (heard[i] == text[j] && !text[j].empty()) chains.push_back({i, j, kPair - logarithm(i) - 2 * logarithm(j)});
    }
  }
  const Chain* best = nullptr;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    if (i % kNear == 0) check_cancelled();
    Chain& chain = chains[i];
    for (std::size_t k = i - std::min(i, kNear); k < i; ++k) {
      const Chain& before = chains[k];
      if (before.heard >= chain.heard || before.text >= chain.text) continue;
      const double score =
          before.score + kPair + gap_score(chain.heard - before.heard - 1, chain.text - before.text - 1);
      if (score > chain.score) chain = {chain.heard, chain.text, score, &before};
    }
    if (best == nullptr || chain.score > best->score) best = &chain;
  }
  WordPairs pairs;
  if (best == nullptr || best->score < std::min(kEnough, static_cast<double>(heard.size()))) return pairs;
  for (; best != nullptr; best = best->before) pairs.emplace_back(best->heard, best->text);
  std::ranges::reverse(pairs);
  return pairs;
}

}  // namespace encdec
