#pragma once

#include <cstddef>
#include <queue>
#include <utility>
#include <vector>

namespace encdec {

// What a pair of symbols becomes, and when: the lowest rank first.
template <typename Rank, typename Symbol>
struct PairMerge {
  Rank rank;
  Symbol result;
};

// Byte-pair encoding (Sennrich et al. 2016): symbols are merged pair by pair, the lowest rank first, of equal ones the
// leftmost, until there is no merge for any pair. `find_merge(left, right)` is an optional PairMerge<Rank, Symbol>.
// Takes O(n log n) for n symbols.
template <typename Rank, typename Symbol, typename FindMerge>
std::vector<Symbol> merge_pairs(std::vector<Symbol> symbols, const FindMerge& find_merge) {
  constexpr std::size_t kNone = ~std::size_t{0};
  // Symbols stay where they are; merging links a symbol to the one after the next.
  struct Link {
    std::size_t previous;
    std::size_t next;
    std::size_t merges = 0;  // that the symbol has taken part in
    bool is_gone = false;
  };
  struct Candidate {
    PairMerge<Rank, Symbol> merge;
    std::size_t left;
    std::size_t merges;  // of both symbols, when the pair was found

    bool operator<(const Candidate& other) const {
      return merge.rank != other.merge.rank ? merge.rank > other.merge.rank : left > other.left;
    }
  };
  std::vector<Link> links;
  links.reserve(symbols.size());
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    links.push_back({i == 0 ? kNone : i - 1, i + 1 < symbols.size() ? i + 1 : kNone});
  }
  std::priority_queue<Candidate> queue;
  const auto offer = [&](std::size_t left) {
    const std::size_t right = left == kNone ? kNone : links[left].next;
    if (right == kNone) return;
    if (auto merge = find_merge(std::as_const(symbols[left]), std::as_const(symbols[right]))) {
      queue.push({*std::move(merge), left, links[left].merges + links[right].merges});
    }
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) offer(i);
  if (queue.empty()) return symbols;
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Link& left = links[best.left];
    if (left.is_gone || left.next == kNone) continue;
    Link& right = links[left.next];
    if (left.merges + right.merges != best.merges) continue;  // it was another pair
    symbols[best.left] = best.merge.result;
    left.next = right.next;
    left.merges += right.merges + 1;
    right.is_gone = true;
    if (left.next != kNone) links[left.next].previous = best.left;
    offer(left.previous);
    offer(best.left);
  }
  std::vector<Symbol> merged;
  for (std::size_t i = 0; i != kNone; i = links[i].next) merged.push_back(symbols[i]);
  return merged;
}

}  // namespace encdec
