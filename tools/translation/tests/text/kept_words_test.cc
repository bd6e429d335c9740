#include "encdec/translation/text/kept_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(KeptWords, AreReplacedAndPlacesMoveWithTheText) {
  const std::vector<Replacement> replacements = {{2, 4, "xyz"}, {5, 5, "+"}, {6, 8, ""}};
  EXPECT_EQ(replaced("01234567", replacements), "01xyz4+5");
  for (const auto& [place, wanted] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 0}, {2, 2}, {3, 2}, {4, 5}, {5, 6}, {6, 8}, {7, 8}, {8, 8}}) {
    EXPECT_EQ(moved(place, replacements), wanted) << place;
  }
  EXPECT_EQ(replaced("a", {}), "a");
}

TEST(KeptWords, AreFoundOnceAndWhole) {
  const auto found = [](const std::string& translation, const std::string& source,
                        const std::vector<std::string>& words) { return find_kept(translation, source, words); };
  EXPECT_THAT(found("%d of %s", "%s in %d", {"%s", "%d"}), Optional(ElementsAre(6, 0)));
  EXPECT_THAT(found("a b", "a b", {}), Optional(ElementsAre()));
  EXPECT_EQ(found("%d of", "%s in %d", {"%s", "%d"}), std::nullopt);
  EXPECT_EQ(found("%s %s", "%s", {"%s"}), std::nullopt);
  // The same word twice, and a word that also stands in the text as a part of it.
  EXPECT_THAT(found("%s, %s", "%s %s", {"%s", "%s"}), Optional(ElementsAre(0, 4)));
  EXPECT_THAT(found("5 x 5", "5 times 5", {"5"}), Optional(ElementsAre(0)));
  EXPECT_EQ(found("5 x", "5 times 5", {"5"}), std::nullopt);
  // Whole: not a part of another number or word.
  EXPECT_EQ(found("15", "5", {"5"}), std::nullopt);
  EXPECT_EQ(found("{names}", "{name}", {"{name}"}), std::nullopt);
  EXPECT_THAT(found("15 5", "5", {"5"}), Optional(ElementsAre(3)));
  EXPECT_THAT(found("%s_name %s", "%s %s_name", {"%s", "%s_name"}), Optional(ElementsAre(8, 0)));
}

TEST(KeptWords, TermsAreCountedWithoutTheirEndings) {
  EXPECT_EQ(count_term("Die Zelle, zellen. Einzelle", "Zelle", false), 2u);
  EXPECT_EQ(count_term("Über ÜBER", "über", false), 2u);
  EXPECT_EQ(count_term("Bücher", "cher", false), 0u);
  EXPECT_EQ(count_term("这是细胞", "细胞", true), 1u);
}

}  // namespace
}  // namespace encdec
