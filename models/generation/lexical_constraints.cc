#include "encdec/models/generation/lexical_constraints.h"

#include <algorithm>
#include <map>

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

std::vector<std::size_t> share_among_degrees(std::span<const std::size_t> tokens_met, std::size_t count) {
  std::map<std::size_t, std::vector<std::size_t>, std::greater<>> degrees;  // the furthest first
  for (std::size_t i = 0; i < tokens_met.size(); ++i) degrees[tokens_met[i]].push_back(i);
  std::vector<std::size_t> chosen;
  // One of each degree after the other, until there are enough.
  for (std::size_t round = 0; chosen.size() < std::min(count, tokens_met.size()); ++round) {
    for (const auto& [met, members] : degrees) {
      if (round < members.size() && chosen.size() < count) chosen.push_back(members[round]);
    }
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace encdec
