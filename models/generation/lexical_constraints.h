#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace encdec {

using Phrases = std::vector<std::vector<std::int32_t>>;

// How far a hypothesis has come with phrases that it must contain (Post & Vilar 2018): which of them stand in it, and
// how much of one more stands at its end. A phrase that breaks off begins anew; phrases do not overlap.
class ConstraintProgress {
 public:
  ConstraintProgress() = default;  // with no phrases
  // The phrases, none of them empty, must outlive it.
  explicit ConstraintProgress(const Phrases& phrases) : phrases_(&phrases), met_(phrases.size(), 0) {}

  // The hypothesis goes on with a token.
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

  // Tokens of phrases that stand in it so far.
  std::size_t tokens_met() const {
    std::size_t tokens = current_length_;
    for (std::size_t i = 0; i < met_.size(); ++i) tokens += met_[i] ? (*phrases_)[i].size() : 0;
    return tokens;
  }
  // Tokens that are missing yet.
  std::size_t tokens_missing() const {
    std::size_t tokens = 0;
    for (std::size_t i = 0; i < met_.size(); ++i) tokens += (*phrases_)[i].size();
    return tokens - tokens_met();
  }
  // Adds the tokens that would bring it further.
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
  std::vector<char> met_;           // by phrase
  std::size_t current_ = kNone;     // the phrase that has begun
  std::size_t current_length_ = 0;  // tokens of it
};

// A candidate, and how far it has come with the phrases.
struct DegreeMember {
  std::size_t tokens_met = 0;
  std::size_t index = 0;
  std::size_t place = 0;  // among those of its degree
};

// Who goes on: leaves `count` of the candidates, all in the order of their indices, which is best first, with every
// degree of fulfilment among them, so that those that are dearer for having a phrase are not all lost at once.
inline void share_among_degrees(std::vector<DegreeMember>& candidates, std::size_t count) {
  if (candidates.size() <= count) return;
  std::ranges::sort(candidates, {}, [](const DegreeMember& a) { return std::pair(a.tokens_met, a.index); });
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const bool begins = candidates[i].tokens_met != candidates[i - 1].tokens_met;
    candidates[i].place = begins ? 0 : candidates[i - 1].place + 1;
  }
  // One of each degree after the other, the furthest first, until there are enough.
  std::ranges::sort(candidates, [](const DegreeMember& a, const DegreeMember& b) {
    return a.place != b.place ? a.place < b.place : a.tokens_met > b.tokens_met;
  });
  candidates.resize(count);
  std::ranges::sort(candidates, {}, &DegreeMember::index);
}

}  // namespace encdec
