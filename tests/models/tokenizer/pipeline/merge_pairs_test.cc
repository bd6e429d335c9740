#include "encdec/models/tokenizer/pipeline/merge_pairs.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

namespace encdec {
namespace {

using MergeTable = std::map<std::pair<std::int32_t, std::int32_t>, PairMerge<int>>;

// Merges step by step: each step merges the leftmost of the adjacent pairs with the lowest rank.
std::vector<std::int32_t> merged_naively(std::vector<std::int32_t> symbols, const MergeTable& merges) {
  for (;;) {
    auto best = merges.end();
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto merge = merges.find({symbols[i], symbols[i + 1]});
      if (merge == merges.end() || (best != merges.end() && merge->second.rank >= best->second.rank)) continue;
      best = merge;
      place = i;
    }
    if (best == merges.end()) return symbols;
    symbols[place] = best->second.result;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

std::vector<std::int32_t> merged(const std::vector<std::int32_t>& symbols, const std::vector<std::size_t>& places,
                                 const MergeTable& merges) {
  SymbolChain chain(symbols.size());
  for (std::size_t i = 0; i < symbols.size(); ++i) chain.add(symbols[i], places[i]);
  merge_pairs<int>(chain, [&](std::size_t left, std::size_t middle, std::size_t) -> std::optional<PairMerge<int>> {
    const auto merge = merges.find({chain.symbol(left), chain.symbol(middle)});
    return merge != merges.end() ? std::optional(merge->second) : std::nullopt;
  });
  std::vector<std::int32_t> result;
  for (std::size_t i = 0; i < chain.places(); i = chain.end(i)) result.push_back(chain.symbol(i));
  EXPECT_EQ(result.size(), chain.symbols());
  return result;
}

// Few symbols and many merges, some of equal rank, so that candidates appear, vanish and overlap. Some lengths fill the
// heap of candidates.
TEST(MergePairs, EqualsMergingStepByStep) {
  std::mt19937 random(3);
  const auto below = [&](unsigned end) { return static_cast<std::int32_t>(random() % end); };
  for (int trial = 0; trial < 2000; ++trial) {
    MergeTable merges;
    const int count = 1 + below(30);
    for (int rank = 0; rank < count; ++rank) {
      merges.try_emplace({below(6), below(6)}, PairMerge<int>{rank / (1 + trial % 3), below(6)});
    }
    std::vector<std::int32_t> symbols(static_cast<std::size_t>(below(trial % 10 == 0 ? 600 : 40)));
    std::vector<std::size_t> places(symbols.size());
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      symbols[i] = below(6);
      places[i] = static_cast<std::size_t>(1 + below(4));
    }
    ASSERT_EQ(merged(symbols, places, merges), merged_naively(symbols, merges)) << "trial " << trial;
  }
}

}  // namespace
}  // namespace encdec
