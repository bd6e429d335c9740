#include "encdec/models/generation/lexical_constraints.h"

#include <algorithm>
#include <utility>

namespace encdec {

void ConstraintProgress::advance(std::int32_t token) {
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

std::size_t ConstraintProgress::tokens_met() const {
  std::size_t tokens = current_length_;
  for (std::size_t i = 0; i < met_.size(); ++i) tokens += met_[i] ? (*phrases_)[i].size() : 0;
  return tokens;
}

std::size_t ConstraintProgress::tokens_missing() const {
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < met_.size(); ++i) tokens += (*phrases_)[i].size();
  return tokens - tokens_met();
}

void ConstraintProgress::next_tokens(std::vector<std::int32_t>& tokens) const {
  if (current_ != kNone) {
    tokens.push_back((*phrases_)[current_][current_length_]);
    return;
  }
  for (std::size_t i = 0; i < met_.size(); ++i) {
    if (!met_[i]) tokens.push_back((*phrases_)[i].front());
  }
}

void share_among_degrees(std::vector<DegreeMember>& candidates, std::size_t count) {
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
