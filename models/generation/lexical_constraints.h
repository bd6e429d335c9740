#pragma once

#include <cstdint>
#include <span>
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
  void advance(std::int32_t token);

  // Tokens of phrases that stand in it so far.
  std::size_t tokens_met() const;
  // Tokens that are missing yet.
  std::size_t tokens_missing() const;
  // Adds the tokens that would bring it further.
  void next_tokens(std::vector<std::int32_t>& tokens) const;

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
void share_among_degrees(std::vector<DegreeMember>& candidates, std::size_t count);

}  // namespace encdec
