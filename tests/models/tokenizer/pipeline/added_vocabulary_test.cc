#include "encdec/models/tokenizer/pipeline/added_vocabulary.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/pipeline/piece_model.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using Looking = AddedVocabulary::Looking;
using SpecialTokens = AddedVocabulary::SpecialTokens;
using Tokens = std::vector<AddedToken>;

const PieceModel& model() {
  static const PieceModelPtr words = [] {
    Vocabulary vocabulary;
    for (const char* piece : {"<unk>", "a", "b"}) {
      vocabulary.add(piece, static_cast<std::int32_t>(vocabulary.size()), "file");
    }
    return piece_models::word_level({.vocabulary = std::move(vocabulary)}, "file");
  }();
  return *words;
}

AddedVocabulary added(const Tokens& tokens, const Normalizer& normalizer = {}) {
  return {tokens, model(), normalizer, "file"};
}

// Returns the parts of a text: text as it is, and each token as its id in brackets.
std::vector<std::string> find(const AddedVocabulary& vocabulary, std::string_view text,
                              Looking looking = Looking::for_raw_tokens, SpecialTokens special = SpecialTokens::found) {
  std::vector<std::string> parts;
  vocabulary.find(text, looking, special, [&](const AddedVocabulary::Part& found) {
    const std::string part(text.substr(found.begin, found.end - found.begin));
    parts.push_back(found.id ? fmt::format("[{}{}]", *found.id, part) : part);
  });
  return parts;
}

TEST(AddedVocabulary, NumbersTokensAfterTheModelsPieces) {
  const AddedVocabulary vocabulary = added({{.content = "x"}, {.content = "b"}, {.content = ""}, {.content = "y"}});
  EXPECT_EQ(vocabulary.id("x"), 3);
  EXPECT_EQ(vocabulary.id("b"), 2);
  EXPECT_EQ(vocabulary.id("y"), 4);
  EXPECT_EQ(vocabulary.id(""), std::nullopt);
  EXPECT_EQ(vocabulary.entry(4)->token.content, "y");
  EXPECT_EQ(vocabulary.entry(5), nullptr);
}

TEST(AddedVocabulary, FindsTheLongestFromLeftToRight) {
  const AddedVocabulary vocabulary = added({{.content = "<a>", .normalized = false},
                                            {.content = "<a><b>", .normalized = false},
                                            {.content = "b><c", .normalized = false}});
  EXPECT_THAT(find(vocabulary, "x<a><b><c"), ElementsAre("x", "[4<a><b>]", "<c"));
  EXPECT_THAT(find(vocabulary, "<a><c"), ElementsAre("[3<a>]", "<c"));
  EXPECT_THAT(find(vocabulary, "<b><c"), ElementsAre("<", "[5b><c]"));
  EXPECT_THAT(find(vocabulary, ""), ElementsAre());
}

TEST(AddedVocabulary, TokensMayIncludeTheWhitespaceAroundThem) {
  const AddedVocabulary vocabulary = added({{.content = "<l>", .strip_left = true, .normalized = false},
                                            {.content = "<r>", .strip_right = true, .normalized = false}});
  EXPECT_THAT(find(vocabulary, "a \u3000<l> b"), ElementsAre("a", "[3 \u3000<l>]", " b"));
  EXPECT_THAT(find(vocabulary, "a <r> \tb"), ElementsAre("a ", "[4<r> \t]", "b"));
  EXPECT_THAT(find(vocabulary, "<r> <l>"), ElementsAre("[4<r> ]", "[3<l>]"));
}

TEST(AddedVocabulary, SingleWordTokensAreFoundOnlyAsWholeWords) {
  const AddedVocabulary vocabulary = added({{.content = "tok", .single_word = true, .normalized = false}});
  EXPECT_THAT(find(vocabulary, "tok toks étok, (tok)"), ElementsAre("[3tok]", " toks étok, (", "[3tok]", ")"));
}

TEST(AddedVocabulary, NormalizedTokensAreFoundInNormalizedText) {
  const AddedVocabulary vocabulary = added({{.content = "ABC"},
                                            {.content = "DEF", .normalized = false},
                                            {.content = "<S>", .normalized = true, .special = true}},
                                           normalizers::lowercase);
  EXPECT_THAT(find(vocabulary, "abcDEF"), ElementsAre("abc", "[4DEF]"));
  EXPECT_THAT(find(vocabulary, "abcDEF", Looking::for_normalized_tokens), ElementsAre("[3abc]", "DEF"));
  EXPECT_EQ(vocabulary.entry(3)->decoded, "abc");
  EXPECT_EQ(vocabulary.entry(3)->token.content, "ABC");
  // As in the reference, the normalized form of a special token is not special.
  EXPECT_TRUE(vocabulary.is_special("<S>"));
  EXPECT_FALSE(vocabulary.is_special(vocabulary.entry(5)->decoded));
}

TEST(AddedVocabulary, SpecialTokensCanBeReadAsText) {
  const AddedVocabulary vocabulary = added({{.content = "<s>", .normalized = false, .special = true}});
  EXPECT_THAT(find(vocabulary, "a<s>", Looking::for_raw_tokens, SpecialTokens::ignored), ElementsAre("a<s>"));
}

TEST(AddedVocabulary, TheLastDescriptionOfATokenWins) {
  const AddedVocabulary vocabulary =
      added({{.content = "x", .normalized = false}, {.content = "x", .strip_left = true, .normalized = false}});
  EXPECT_EQ(vocabulary.id("x"), 3);
  EXPECT_THAT(find(vocabulary, "  x"), ElementsAre("[3  x]"));
}

TEST(AddedVocabulary, RefusesAmbiguousAndTooLongTokens) {
  EXPECT_THROW(added({{.content = "ABC"}, {.content = "abc"}}, normalizers::lowercase), TokenizerError);
  EXPECT_THROW(added({{.content = std::string(1025, 'a')}}), TokenizerError);
}

TEST(AddedVocabulary, LongRunsOfWhitespaceTakeLinearTime) {
  const AddedVocabulary vocabulary =
      added({{.content = " ", .strip_left = true, .strip_right = true, .normalized = false}});
  EXPECT_EQ(find(vocabulary, std::string(100'000, ' ')).size(), 100'000u);
}

}  // namespace
}  // namespace encdec
