#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace encdec {

using Phrases = std::vector<std::vector<std::int32_t>>;

// Tracks which of the required phrases a hypothesis contains, and which phrase is unfinished at its end (Post & Vilar
// 2018). An interrupted phrase starts over. Phrases do not overlap.
class ConstraintProgress {
 public:
  ConstraintProgress() = default;  // no phrases
  // REQUIRES: no phrase is empty, and `phrases` outlives this object.
  explicit ConstraintProgress(const Phrases& phrases) : phrases_(&phrases), met_(phrases.size(), 0) {}

  void advance(std::int32_t token) {
    if (current_ != kNone && (*phrases_)[current_][current_length_] != token) {
      current_ = kNone;
      current_length_ = 0;
    }
    for (std::size_t i = 0; current_ == kNone && i < met_.size(); ++i) {
      if (!met_[i] && (*phrases_)[i].front() == token) current_ = i;
    }
    if (current_ == kNone) return;
    ++current_length_;
    if (current_length_ < (*phrases_)[current_].size()) return;
    met_[current_] = 1;
    current_ = kNone;
    current_length_ = 0;
  }

  // Returns the number of phrase tokens in the hypothesis so far.
  std::size_t tokens_met() const {
    std::size_t tokens = current_length_;
    for (std::size_t i = 0; i < met_.size(); ++i) tokens += met_[i] ? (*phrases_)[i].size() : 0;
    return tokens;
  }
  std::size_t tokens_missing() const {
    std::size_t tokens = 0;
    for (std::size_t i = 0; i < met_.size(); ++i) tokens += (*phrases_)[i].size();
    return tokens - tokens_met();
  }
  // Appends to `tokens` the tokens that would continue the current phrase, or start a missing phrase.
  void next_tokens(std::vector<std::int32_t>& tokens) const {
    if (current_ != kNone) {
      tokens.push_back((*phrases_)[current_][current_length_]);
      return;
    }
    for (std::size_t i = 0; i < met_.size(); ++i) {
      if (!met_[i]) tokens.push_back((*phrases_)[i].front());
    }
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  const Phrases* phrases_ = nullptr;
  std::vector<char> met_;           // by phrase: 1 if the hypothesis contains the phrase
  std::size_t current_ = kNone;     // index of the unfinished phrase at the end of the hypothesis
  std::size_t current_length_ = 0;  // number of tokens of this phrase so far
};

// A beam candidate. Its degree is `tokens_met`, the number of its phrase tokens.
struct DegreeMember {
  std::size_t tokens_met = 0;
  std::size_t index = 0;  // rank among all candidates, best first
  std::size_t rank = 0;   // rank among the candidates of its degree
};

// Keeps `count` of the candidates, sorted by index: the best candidate of each degree, then the second best of each
// degree, and so on. A choice by score alone could drop all candidates with a phrase at once.
inline void share_among_degrees(std::vector<DegreeMember>& candidates, std::size_t count) {
  if (candidates.size() <= count) return;
  std::ranges::sort(candidates, {}, [](const DegreeMember& a) { return std::pair(a.tokens_met, a.index); });
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const bool begins = candidates[i].tokens_met != candidates[i - 1].tokens_met;
    candidates[i].rank = begins ? 0 : candidates[i - 1].rank + 1;
  }
  // Sort by `rank`. Among equal ranks, candidates with more phrase tokens come first.
  std::ranges::sort(candidates, [](const DegreeMember& a, const DegreeMember& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.tokens_met > b.tokens_met;
  });
  candidates.resize(count);
  std::ranges::sort(candidates, {}, &DegreeMember::index);
}

}  // namespace encdec
