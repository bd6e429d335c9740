#include "encdec/models/tokenizer/pipeline/best_cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>

namespace encdec {
namespace {

using Pieces = std::vector<std::pair<std::string, int>>;  // each piece with its score
using Cut = std::vector<std::string>;

constexpr int kUnknown = -40;

// Computes the best cut of every prefix. Of equal sums, takes the cut with the longest last piece.
Cut cut_naively(const std::string& text, const Pieces& pieces) {
  constexpr int kNone = std::numeric_limits<int>::min();
  std::vector<int> scores(text.size() + 1, kNone);
  std::vector<std::size_t> lengths(text.size() + 1);
  scores[0] = 0;
  for (std::size_t end = 1; end <= text.size(); ++end) {
    const auto arrive = [&](std::size_t length, int score) {
      if (length > end || scores[end - length] == kNone) return;
      const int sum = scores[end - length] + score;
      if (sum < scores[end] || (sum == scores[end] && length <= lengths[end])) return;
      scores[end] = sum;
      lengths[end] = length;
    };
    bool is_known = false;
    for (const auto& [piece, score] : pieces) {
      if (!std::string_view(text).substr(0, end).ends_with(piece)) continue;
      arrive(piece.size(), score);
      is_known = is_known || piece.size() == 1;
    }
    if (!is_known) arrive(1, kUnknown);
  }
  Cut cut;
  for (std::size_t end = text.size(); end > 0; end -= lengths[end]) {
    cut.push_back(text.substr(end - lengths[end], lengths[end]));
  }
  std::ranges::reverse(cut);
  return cut;
}

template <class Score>
Cut cut(const std::string& text, const Pieces& pieces) {
  ByteTrie trie;
  for (std::size_t id = 0; id < pieces.size(); ++id) trie.insert(pieces[id].first, static_cast<std::int32_t>(id));
  const auto score_of = [&](std::int32_t id, std::size_t) {
    return std::optional(static_cast<Score>(pieces[static_cast<std::size_t>(id)].second));
  };
  const auto unknown = [](std::string_view) { return static_cast<Score>(kUnknown); };
  Cut found;
  best_cut<Score>(text, trie, score_of, unknown, [&](std::string_view piece) { found.emplace_back(piece); });
  return found;
}

std::string random_text(std::mt19937& random, std::size_t length) {
  std::string text(length, '\0');
  for (char& c : text) c = static_cast<char>('a' + random() % 3);
  return text;
}

TEST(BestCut, HasTheHighestSumOfAllCuts) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 300; ++trial) {
    Pieces pieces;
    for (std::size_t i = 0, count = 1 + random() % 12; i < count; ++i) {
      const std::string piece = random_text(random, 1 + random() % 4);
      if (std::ranges::find(pieces, piece, &std::pair<std::string, int>::first) != pieces.end()) continue;
      pieces.emplace_back(piece, -static_cast<int>(random() % 20));
    }
    const std::string text = random_text(random, random() % 60);
    const Cut expected = cut_naively(text, pieces);
    ASSERT_EQ(cut<double>(text, pieces), expected) << "trial " << trial;
    ASSERT_EQ(cut<float>(text, pieces), expected) << "trial " << trial;
  }
}

// BestCut keeps one score for each byte of the longest piece, not of the text. Here pieces have the maximum length, and
// the text is many times longer.
TEST(BestCut, PiecesMayHaveTheMaximumLength) {
  std::mt19937 random(12);
  const std::string longest(kMaxPieceBytes, 'a');
  const Pieces pieces = {{longest, -1}, {longest.substr(1), -1}, {"a", -3}, {"b", -1}, {longest.substr(2) + "b", -2}};
  for (int trial = 0; trial < 5; ++trial) {
    std::string text;
    for (int run = 0; run < 4; ++run) text += std::string(random() % (3 * kMaxPieceBytes), 'a') + "b";
    ASSERT_EQ(cut<float>(text, pieces), cut_naively(text, pieces)) << "trial " << trial;
  }
}

}  // namespace
}  // namespace encdec
