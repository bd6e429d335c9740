#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "encdec/engine/base/cancellation.h"

namespace encdec {

// A sequence of symbols in which neighbours can be joined. Each symbol occupies one or more slots; a
// joined symbol occupies the slots of both parts. Needs 4 bytes per slot.
class SymbolChain {
 public:
  // REQUIRES: slots < 2^31.
  explicit SymbolChain(std::size_t slots) { slots_.reserve(slots); }

  // REQUIRES: symbol >= 0.
  void add(std::int32_t symbol, std::size_t slots = 1) {
    const std::size_t begin = slots_.size();
    slots_.resize(begin + slots, kInside);
    slots_[begin] = symbol;
    mark(begin, slots_.size());
    ++symbols_;
  }

  std::size_t slots() const { return slots_.size(); }
  std::size_t symbols() const { return symbols_; }
  bool is_symbol_start(std::size_t slot) const { return slots_[slot] >= 0; }

  // Return the symbol that begins at slot `begin`, and the end of its slots.
  std::int32_t symbol(std::size_t begin) const { return slots_[begin]; }
  std::size_t end(std::size_t begin) const {
    const std::size_t next = begin + 1;
    return next < slots_.size() && slots_[next] < 0 ? begin + size_of(slots_[next]) : next;
  }
  // Returns where the symbol before `begin` begins.
  // REQUIRES: begin > 0.
  std::size_t previous(std::size_t begin) const {
    const std::int32_t last = slots_[begin - 1];
    return last < 0 ? begin - size_of(last) : begin - 1;
  }

  // Replaces the neighbours that begin at `left` and `middle` by `symbol`.
  void join(std::size_t left, std::size_t middle, std::int32_t symbol) {
    const std::size_t end_of_both = end(middle);
    slots_[middle] = kInside;
    slots_[left] = symbol;
    mark(left, end_of_both);
    --symbols_;
  }

 private:
  static constexpr std::int32_t kInside = -1;

  static std::size_t size_of(std::int32_t mark) { return static_cast<std::size_t>(-std::int64_t{mark}); }

  // Stores a symbol's number of slots, negated, in its second and its last slot. The first slot holds the symbol.
  void mark(std::size_t begin, std::size_t end) {
    if (end - begin > 1) slots_[begin + 1] = slots_[end - 1] = -static_cast<std::int32_t>(end - begin);
  }

  std::vector<std::int32_t> slots_;
  std::size_t symbols_ = 0;
};

// The result of merging two symbols. Lower ranks are merged first.
template <typename Rank>
struct PairMerge {
  Rank rank;
  std::int32_t result;
};

// A pair of neighbours to merge: the symbol that begins at `left` and the next one. Sorts in the order of merging.
template <typename Rank>
struct MergeCandidate {
  Rank rank;
  std::uint32_t left;

  auto operator<=>(const MergeCandidate&) const = default;
};

// Merges symbols by byte-pair encoding (Sennrich et al. 2016). Repeatedly merges the pair with the lowest rank, the
// leftmost of equal ranks, until no pair has a merge.
// - `find_merge(left, middle, end)` returns an optional PairMerge<Rank> for the symbols at the slots [left, middle)
//   and [middle, end).
// - `offered(left, middle, end)` is called for each initial or new pair that has a merge.
// Takes O(n log n) time for n symbols, and sizeof(Rank) + 4 bytes of memory per symbol.
template <typename Rank, typename FindMerge, typename Offered>
void merge_pairs(SymbolChain& symbols, const FindMerge& find_merge, const Offered& offered) {
  using Candidate = MergeCandidate<Rank>;
  const auto merge_at = [&](std::size_t left) -> std::optional<PairMerge<Rank>> {
    const std::size_t middle = symbols.end(left);
    if (middle == symbols.slots()) return std::nullopt;
    return find_merge(left, middle, symbols.end(middle));
  };
  // Returns the candidate's merge; nullopt if it is stale, because one of its symbols has been merged with another.
  const auto current = [&](const Candidate& candidate) -> std::optional<PairMerge<Rank>> {
    if (!symbols.is_symbol_start(candidate.left)) return std::nullopt;
    const auto merge = merge_at(candidate.left);
    return merge && merge->rank == candidate.rank ? merge : std::nullopt;
  };
  // A heap with room for all pairs. When it is full, make_room() removes stale candidates. Each merge leaves one pair
  // fewer, so each removal frees at least twice as much space as the previous one.
  constexpr std::size_t kFreeRoom = 64;
  std::vector<Candidate> queue;
  queue.reserve(symbols.symbols() + std::min(symbols.symbols(), kFreeRoom));
  const auto make_room = [&] {
    std::erase_if(queue, [&](const Candidate& candidate) { return !current(candidate); });
    std::sort(queue.begin(), queue.end(), [](const Candidate& a, const Candidate& b) {
      poll_cancelled();
      return a < b;
    });
    queue.erase(std::unique(queue.begin(), queue.end()), queue.end());  // a sorted queue is a heap
  };
  // Adds the pair that begins at `left` to the heap if it has a merge.
  const auto offer = [&](std::size_t left) {
    poll_cancelled();
    const auto merge = merge_at(left);
    if (!merge) return;
    const std::size_t middle = symbols.end(left);
    offered(left, middle, symbols.end(middle));
    queue.push_back({merge->rank, static_cast<std::uint32_t>(left)});
    std::push_heap(queue.begin(), queue.end(), std::greater());
  };
  for (std::size_t left = 0; left < symbols.slots(); left = symbols.end(left)) offer(left);
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), std::greater());
    const Candidate best = queue.back();
    queue.pop_back();
    const auto merge = current(best);
    if (!merge) continue;
    // Merge the best pair. This creates a new pair on each side.
    symbols.join(best.left, symbols.end(best.left), merge->result);
    if (queue.size() + 2 > queue.capacity()) make_room();
    if (best.left > 0) offer(symbols.previous(best.left));
    offer(best.left);
  }
}

template <typename Rank, typename FindMerge>
void merge_pairs(SymbolChain& symbols, const FindMerge& find_merge) {
  merge_pairs<Rank>(symbols, find_merge, [](std::size_t, std::size_t, std::size_t) {});
}

}  // namespace encdec
