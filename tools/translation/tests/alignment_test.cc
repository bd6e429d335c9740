#include "encdec/translation/alignment.h"

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

SourceUnits tokens_of(const std::string& text, std::vector<std::size_t> cuts = {}) {
  static const Words tokenizer;
  return {tokenizer, text, {}, cuts};
}

TEST(SourceUnits, AreWordsAndMarksWithTheirShareOfTheTokens) {
  const SourceUnits source = tokens_of("one two, three", {4, 5});
  EXPECT_THAT(source.units(),
              ElementsAre(TextUnit{0, 3}, TextUnit{4, 5}, TextUnit{5, 7, true}, TextUnit{7, 8}, TextUnit{9, 14}));
  EXPECT_EQ(source.specials_before(), 1u);
  std::vector<float> units(5);
  source.add(std::vector<float>{1, 4, 2}, units);
  EXPECT_THAT(units, ElementsAre(1.0F, 1.0F, 2.0F, 1.0F, 2.0F));
  EXPECT_TRUE(tokens_of("").units().empty());
}

TEST(Alignment, ComposesOverUnitsOfTheTextBetween) {
  // Source units 0 and 1 -> middle "ab cd" in tokens "ab", " cd" -> target tokens "x", "y".
  const Alignment first{.ends = {1, 5}, .units = 2, .weights = {1, 0, 0, 1}};
  const Alignment second{.ends = {1, 3}, .units = 2, .weights = {1, 0, 0.25, 0.5}};
  const Alignment composed = compose(first, 0, tokens_of("ab cd"), second);
  EXPECT_EQ(composed.ends, second.ends);
  EXPECT_EQ(composed.units, 2u);
  // The unit "ab" has bytes of both tokens of the first step, "cd" of the second alone.
  EXPECT_THAT(composed.weights, ElementsAre(0.5F, 0.5F, 0.125F, 0.625F));
}

TEST(Alignment, OfAPartOfTheTextBetweenBeginsThere) {
  const Alignment first{.ends = {2, 5}, .units = 2, .weights = {1, 0, 0, 1}};
  const Alignment second{.ends = {1}, .units = 1, .weights = {1}};
  EXPECT_THAT(compose(first, 3, tokens_of("cd"), second).weights, ElementsAre(0.0F, 1.0F));
  EXPECT_THAT(compose(first, 5, tokens_of("cd"), second).weights, ElementsAre(0.0F, 0.0F));
}

TEST(Alignment, DividesACopiedWordAsTheSourceAndGivesOthersTheLargestPart) {
  const std::string source = "rebuild now";
  const std::vector<TextUnit> units = units_of(source, std::vector<std::size_t>{2});
  const auto aligned = [&](const std::string& text) {
    std::string shown;
    for (const AlignedWord& word : align_words({}, text, source, units)) {
      shown += text.substr(word.begin, word.end - word.begin) + "=" + std::to_string(word.unit) + " ";
    }
    return shown;
  };
  EXPECT_EQ(aligned("Now Rebuild!"), "Now=2 Re=0 build=1 !=3 ");  // the source has no mark
  const Alignment strong{.ends = {3, 7}, .units = 3, .weights = {0, 0, 1, 0.2F, 0.8F, 0}};
  const auto words = align_words(strong, "já refaz", source, units);
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0].unit, 2u);
  EXPECT_EQ(words[1].unit, 1u);
}

}  // namespace
}  // namespace encdec
