#include "encdec/models/translation/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace encdec {
namespace {

using testing::ElementsAre;

// A tokenizer whose tokens are words, each with the space before it. It has a special token on each side.
class Words final : public Tokenizer {
 public:
  std::string kind() const override { return "words"; }
  std::string decode(std::span<const std::int32_t>) const override { return {}; }
  std::string_view piece(std::int32_t, TextSide) const override { return {}; }
  std::optional<std::int32_t> token_id(std::string_view) const override { return std::nullopt; }

 private:
  std::vector<std::int32_t> encode_side(std::string_view text, const EncodeOptions&, TextSide) const override {
    std::vector<std::int32_t> ids = {-1};
    std::size_t begin = 0;
    while (begin < text.size()) {
      const std::size_t end = std::min(text.find(' ', begin + 1), text.size());
      std::int32_t id = 0;
      for (const char c : text.substr(begin, end - begin)) id = 31 * id + c;
      if (text.substr(begin, end - begin) != " ") ids.push_back(id);
      begin = end;
    }
    ids.push_back(-2);
    return ids;
  }
};

SourceUnits units_of(const std::string& text) {
  static const Words tokenizer;
  return {tokenizer, text, {}};
}

TEST(SourceUnits, AreTheTokensOfTheTextWithoutSpecialTokens) {
  const SourceUnits units = units_of("one two three");
  EXPECT_EQ(units.count(), 3u);
  EXPECT_EQ(units.specials_before(), 1u);
  EXPECT_EQ(units.at(0), 0u);
  EXPECT_EQ(units.at(4), 1u);
  EXPECT_EQ(units.at(10), 2u);
  EXPECT_EQ(units.at(13), 3u);
  EXPECT_THAT(units_of("a bc d").of_bytes(), ElementsAre(0, 1, 1, 1, 2, 2));
  EXPECT_TRUE(units_of("").of_bytes().empty());
}

TEST(Alignment, ComposesOverBytesOfTheTextBetween) {
  // Source units 0 and 1 -> middle "abcd" in tokens "a", "bcd" -> target token "x", "y". The second model reads the
  // middle as the tokens "ab", " cd" of another text of the same size.
  const Alignment first{.ends = {1, 5}, .units = 2, .weights = {1, 0, 0, 1}};
  const Alignment second{.ends = {1, 3}, .units = 2, .weights = {1, 0, 0.25, 0.5}};
  const Alignment composed = compose(first, 0, units_of("ab cd"), second);
  EXPECT_EQ(composed.ends, second.ends);
  EXPECT_EQ(composed.units, 2u);
  // The unit "ab" has one byte of the first token and one of the second; " cd" has three bytes of the second.
  EXPECT_THAT(composed.weights, ElementsAre(0.5F, 0.5F, 0.125F, 0.625F));
}

TEST(Alignment, OfAPartOfTheTextBetweenBeginsThere) {
  const Alignment first{.ends = {2, 5}, .units = 2, .weights = {1, 0, 0, 1}};
  const Alignment second{.ends = {1}, .units = 1, .weights = {1}};
  EXPECT_THAT(compose(first, 3, units_of("cd"), second).weights, ElementsAre(0.0F, 1.0F));
  EXPECT_THAT(compose(first, 5, units_of("cd"), second).weights, ElementsAre(0.0F, 0.0F));
}

TEST(Alignment, GivesAWordTheUnitWithTheLargestSum) {
  const Alignment alignment{.ends = {1, 2, 4}, .units = 2, .weights = {0.6F, 0.4F, 0.1F, 0.9F, 0.8F, 0.2F}};
  const auto words = words_of(alignment, "ab c", false);
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0].end, 2u);
  EXPECT_EQ(words[0].unit, 1u);
  EXPECT_EQ(words[1].unit, 0u);
  EXPECT_EQ(words_of(alignment, "ab c", true).size(), 3u);
  EXPECT_TRUE(words_of({}, "ab c", false).empty());
}

}  // namespace
}  // namespace encdec
