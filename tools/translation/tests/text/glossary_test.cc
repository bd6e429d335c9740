#include "encdec/translation/text/glossary.h"

#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

// Returns the terms found in a text as "source>target", those to keep as "source=".
std::string found(const Glossary& glossary, const std::string& text, const std::string& language = "en") {
  std::string all;
  for (const Glossary::Match& match : glossary.find(text, language)) {
    if (!all.empty()) all += ' ';
    all += text.substr(match.begin, match.end - match.begin) + (match.is_kept ? "=" : ">" + match.target);
  }
  return all;
}

std::string error_of(const std::string& bytes, const std::string& name) {
  try {
    Glossary().parse(bytes, name);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Glossary, ReadsTsvAndCsv) {
  Glossary glossary;
  glossary.parse("\xef\xbb\xbf# en de\n cell \tZelle\r\n\nred cell\trote Zelle\tnoun\n", "a.tsv");
  EXPECT_EQ(glossary.terms().size(), 2u);
  glossary.parse("\"a, \"\"b\"\"\",\"c\",en,de\r\nd,e", "a.csv");
  EXPECT_EQ(found(glossary, "a, \"b\" d"), "a, \"b\">c d>e");
}

TEST(Glossary, FindsTheLongestTermOfWholeWords) {
  Glossary glossary;
  glossary.parse("cell\tZelle\nred cell\trote Zelle\nCell\tBatterie\nC++\tC++\n", "a.tsv");
  EXPECT_EQ(found(glossary, "A red cell, a cell; cells, Cell CELL."),
            "red cell>rote Zelle cell>Zelle Cell>Batterie "
            "CELL>Zelle");
  EXPECT_EQ(found(glossary, "excellent"), "");
  EXPECT_EQ(found(glossary, "in C++ and c++"), "C++= c++=");
  EXPECT_EQ(found(Glossary(), "cell"), "");
  Glossary chinese;
  chinese.add("细胞", "cell");
  EXPECT_EQ(found(chinese, "这是细胞。", "zh"), "细胞>cell");
}

TEST(Glossary, HasTermsThatAreNotTranslated) {
  Glossary glossary;
  glossary.parse_kept("encdec\n\n \nRed Hat\n", "names");
  EXPECT_EQ(found(glossary, "Encdec for Red Hat"), "Encdec= Red Hat=");
}

TEST(Glossary, ManyTermsAndLongTermsTakeLittleTime) {
  std::string lines, term, text;
  for (int i = 0; i < 300'000; ++i) lines += "term" + std::to_string(i) + ",x\n";
  for (int i = 0; i < 20'000; ++i) text += "cell number " + std::to_string(i) + ' ';
  for (int i = 0; i < 100'000; ++i) term += "cell ";
  Glossary glossary;
  glossary.parse(lines, "a.csv");
  glossary.add(term, "y");
  EXPECT_EQ(glossary.terms().size(), 300'001u);
  EXPECT_EQ(found(glossary, text + "Term7"), "Term7>x");
}

TEST(Glossary, ErrorsNameTheLine) {
  EXPECT_EQ(error_of("a\tb\nc\n", "x.tsv"), "x.tsv: line 2: found one column, expected a term and its translation");
  EXPECT_EQ(error_of("a\tb\na\tc\n", "x.tsv"), "x.tsv: line 2: 'a' has two translations, 'b' and 'c', expected one");
  EXPECT_EQ(error_of("a\t \n", "x.tsv"), "x.tsv: line 1: a term is empty, expected text");
  EXPECT_EQ(error_of("a\xff\tb\n", "x.tsv"), "x.tsv: line 1: a term is not UTF-8");
  EXPECT_EQ(error_of("a,b\n\"c\nd\",e\n", "x.csv"), "x.csv: line 2: 'c\\nd' has a control character, expected none");
  EXPECT_EQ(error_of("a,b\n\"c\"\"d\",e,en,de\n", "x.csv"), "");
}

}  // namespace
}  // namespace encdec
