#include "encdec/models/tokenizer/pipeline/pre_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"

namespace encdec::pre_tokenizers {
namespace {

using testing::ElementsAre;
using Words = std::vector<std::string>;

Words split_text(const PreTokenizer& pre_tokenizer, std::string_view text) {
  Words result;
  pre_tokenizer(PipelineText::whole(text), [&](PipelineText&& word) { result.push_back(std::move(word.text)); });
  return result;
}

TEST(PreTokenizer, CutsAtWhitespace) {
  EXPECT_THAT(split_text(whitespace_split(), " a\u3000b,c \n"), ElementsAre("a", "b,c"));
  EXPECT_THAT(split_text(whitespace, "a_b, c!? é\u0301-"), ElementsAre("a_b", ",", "c", "!?", "é\u0301", "-"));
  EXPECT_THAT(split_text(bert(), "a,b  c."), ElementsAre("a", ",", "b", "c", "."));
  EXPECT_THAT(split_text(whitespace_split(), "  "), ElementsAre());
}

TEST(PreTokenizer, MetaspaceMarksWordsThatFollowSpaces) {
  EXPECT_THAT(split_text(metaspace({}), "a  b"), ElementsAre("▁a", "▁", "▁b"));
  EXPECT_THAT(split_text(metaspace({}), " a"), ElementsAre("▁a"));
  EXPECT_THAT(split_text(metaspace({.prepend = PrependScheme::never}), "a b"), ElementsAre("a", "▁b"));
  EXPECT_THAT(split_text(metaspace({.replacement = "_", .split = false}), "a b"), ElementsAre("_a_b"));
  EXPECT_THAT(split_text(metaspace({}), ""), ElementsAre());
}

TEST(PreTokenizer, MetaspaceFirstMarksOnlyTheStartOfTheText) {
  std::vector<PreTokenizer> parts;
  parts.push_back(whitespace_split());
  parts.push_back(metaspace({.prepend = PrependScheme::first}));
  const PreTokenizer both = sequence(std::move(parts));
  EXPECT_THAT(split_text(both, "a b"), ElementsAre("▁a", "b"));
  EXPECT_THAT(split_text(both, " a b"), ElementsAre("a", "b"));
}

TEST(PreTokenizer, ByteLevelKeepsSpacesWithWords) {
  EXPECT_THAT(split_text(byte_level({.add_prefix_space = false}), "don't  go\n1é"),
              ElementsAre("don", "'t", "Ġ", "Ġgo", "Ċ", "1", "Ã©"));
  EXPECT_THAT(split_text(byte_level({}), "a"), ElementsAre("Ġa"));
  EXPECT_THAT(split_text(byte_level({}), " a"), ElementsAre("Ġa"));
  EXPECT_THAT(split_text(byte_level({.use_regex = false}), "a b"), ElementsAre("ĠaĠb"));
}

TEST(PreTokenizer, SplitsByEveryBehavior) {
  const auto cut = [](SplitBehavior behavior, bool invert = false) {
    return split_text(split(literal_pattern("-"), {.behavior = behavior, .invert = invert}), "the-final--countdown");
  };
  EXPECT_THAT(cut(SplitBehavior::removed), ElementsAre("the", "final", "countdown"));
  EXPECT_THAT(cut(SplitBehavior::isolated), ElementsAre("the", "-", "final", "-", "-", "countdown"));
  EXPECT_THAT(cut(SplitBehavior::merged_with_previous), ElementsAre("the-", "final-", "-", "countdown"));
  EXPECT_THAT(cut(SplitBehavior::merged_with_next), ElementsAre("the", "-final", "-", "-countdown"));
  EXPECT_THAT(cut(SplitBehavior::contiguous), ElementsAre("the", "-", "final", "--", "countdown"));
  EXPECT_THAT(cut(SplitBehavior::removed, true), ElementsAre("-", "-", "-"));
}

TEST(PreTokenizer, CutsBetweenKindsOfCharacters) {
  EXPECT_THAT(split_text(digits(SplitBehavior::isolated), "a12Ⅷ"), ElementsAre("a", "1", "2", "Ⅷ"));
  EXPECT_THAT(split_text(digits(SplitBehavior::contiguous), "a12Ⅷb"), ElementsAre("a", "12Ⅷ", "b"));
  EXPECT_THAT(split_text(punctuation(SplitBehavior::removed), "a,b。c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split_text(char_delimiter_split("é"), "aébéé"), ElementsAre("a", "b"));
  EXPECT_THAT(split_text(fixed_length(2), "aébcd"), ElementsAre("aé", "bc", "d"));
}

TEST(PreTokenizer, WordsThatGrowWithoutEndAreAnError) {
  std::vector<PreTokenizer> parts;
  for (int i = 0; i < 64; ++i) parts.push_back(byte_level({.add_prefix_space = false, .use_regex = false}));
  EXPECT_THROW(split_text(sequence(std::move(parts)), "é"), TokenizerError);
}

TEST(Gpt2Words, CoverATextWithoutGaps) {
  EXPECT_THAT(split_text(byte_level({.add_prefix_space = false}), "I'll'VE  be\u00a0 there \t\n 3x4 ...?!  "),
              ElementsAre("I", "'ll", "'", "VE", "Ġ", "Ġbe", "Âł", "Ġthere", "ĠĉĊ", "Ġ3", "x", "4", "Ġ...?!", "ĠĠ"));
}

}  // namespace
}  // namespace encdec::pre_tokenizers
