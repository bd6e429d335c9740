#include "encdec/models/generation/lexical_constraints.h"

#include <gtest/gtest.h>

namespace encdec {
namespace {

using Tokens = std::vector<std::int32_t>;

ConstraintProgress after(const Phrases& phrases, const Tokens& tokens) {
  ConstraintProgress progress(phrases);
  for (const std::int32_t token : tokens) progress.advance(token);
  return progress;
}

Tokens next_tokens(const ConstraintProgress& progress) {
  Tokens tokens;
  progress.next_tokens(tokens);
  return tokens;
}

TEST(ConstraintProgress, CountsTokensOfWholeAndBegunPhrases) {
  const Phrases phrases{{1, 2, 3}, {4}};
  EXPECT_EQ(after(phrases, {}).tokens_missing(), 4u);
  EXPECT_EQ(after(phrases, {9, 1, 2}).tokens_met(), 2u);
  EXPECT_EQ(after(phrases, {9, 1, 2, 3, 9}).tokens_met(), 3u);
  EXPECT_EQ(after(phrases, {1, 2, 3, 4}).tokens_missing(), 0u);
}

TEST(ConstraintProgress, APhraseThatIsInterruptedStartsOver) {
  const Phrases phrases{{1, 2, 3}};
  EXPECT_EQ(after(phrases, {1, 2, 9}).tokens_met(), 0u);
  EXPECT_EQ(after(phrases, {1, 2, 1}).tokens_met(), 1u);
  EXPECT_EQ(after(phrases, {1, 1, 2, 3}).tokens_missing(), 0u);
}

TEST(ConstraintProgress, EachPhraseIsNeededAsOftenAsItIsListed) {
  const Phrases phrases{{5}, {5}};
  EXPECT_EQ(after(phrases, {5}).tokens_missing(), 1u);
  EXPECT_EQ(after(phrases, {5, 5}).tokens_missing(), 0u);
}

TEST(ConstraintProgress, ListsTheTokensThatContinueAPhrase) {
  const Phrases phrases{{1, 2}, {3}};
  EXPECT_EQ(next_tokens(after(phrases, {})), (Tokens{1, 3}));
  EXPECT_EQ(next_tokens(after(phrases, {1})), (Tokens{2}));
  EXPECT_EQ(next_tokens(after(phrases, {1, 2})), (Tokens{3}));
  EXPECT_EQ(next_tokens(after(phrases, {3, 1, 2})), Tokens());
  EXPECT_EQ(next_tokens(ConstraintProgress()), Tokens());
}

// Returns the indices of the candidates that are kept.
std::vector<std::size_t> shared(const std::vector<std::size_t>& tokens_met, std::size_t count) {
  std::vector<DegreeMember> candidates;
  for (std::size_t i = 0; i < tokens_met.size(); ++i) candidates.push_back({.tokens_met = tokens_met[i], .index = i});
  share_among_degrees(candidates, count);
  std::vector<std::size_t> indices;
  for (const DegreeMember& candidate : candidates) indices.push_back(candidate.index);
  return indices;
}

TEST(ShareAmongDegrees, EveryDegreeIsKeptBeforeAnyIsKeptTwice) {
  const std::vector<std::size_t> met{0, 0, 0, 1, 0, 2, 1};
  EXPECT_EQ(shared(met, 3), (std::vector<std::size_t>{0, 3, 5}));
  EXPECT_EQ(shared(met, 5), (std::vector<std::size_t>{0, 1, 3, 5, 6}));
  EXPECT_EQ(shared(met, 9).size(), 7u);
  EXPECT_TRUE(shared({}, 3).empty());
}

}  // namespace
}  // namespace encdec
