#include "encdec/translation/text/cuts.h"

#include <gtest/gtest.h>

#include <string>

namespace encdec {
namespace {

// Returns a text of words with a bar at each cut. The digit after each word is the part of the source from which it
// comes; it is not a part of the text.
std::string cut(const std::vector<std::string>& words, const std::vector<double>& shares) {
  std::string text;
  std::vector<CutWord> all;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    CutWord& added = all.emplace_back();
    added.begin = text.size();
    text += word.substr(0, word.size() - 1);
    added.end = text.size();
    added.weights.resize(shares.size() + 1);
    added.weights[static_cast<std::size_t>(word.back() - '0')] = 1;
  }
  std::vector<std::size_t> places = place_cuts(text, all, shares);
  EXPECT_EQ(places.size(), shares.size());
  for (std::size_t i = places.size(); i-- > 0;) text.insert(places[i], "|");
  return text;
}

TEST(Cuts, FollowTheWords) {
  EXPECT_EQ(cut({"eins0", "zwei0", "drei1", "vier1"}, {0.5}), "eins zwei |drei vier");
  EXPECT_EQ(cut({"eins0", "zwei1", "drei1", "vier1"}, {0.5}), "eins |zwei drei vier");
  EXPECT_EQ(cut({"eins0", "zwei1", "drei2", "vier2"}, {0.3, 0.6}), "eins |zwei |drei vier");
  // One word that crosses over does not move the cut.
  EXPECT_EQ(cut({"eins0", "zwei0", "drei1", "vier0", "acht1", "neun1"}, {0.5}), "eins zwei |drei vier acht neun");
}

TEST(Cuts, PreferPunctuationAndAvoidShortWords) {
  EXPECT_EQ(cut({"eins0", "zwei,0", "drei0", "vier1", "acht1", "neun1"}, {0.4}), "eins zwei, drei |vier acht neun");
  EXPECT_EQ(cut({"abc0", "in0", "der1", "Stadt1"}, {0.4}), "abc in |der Stadt");
}

TEST(Cuts, LeaveNoPartEmpty) {
  EXPECT_EQ(cut({"eins0", "zwei0"}, {0.9}), "eins |zwei");
  EXPECT_EQ(cut({"eins2", "zwei2", "drei2"}, {0.1, 0.2}), "eins |zwei |drei");
  EXPECT_EQ(cut({"eins0"}, {0.5}), "eins|");
  EXPECT_EQ(cut({}, {0.3, 0.6}), "||");
}

}  // namespace
}  // namespace encdec
