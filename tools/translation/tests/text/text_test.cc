// Tests the processing of texts before and after translation: subtitle boundaries, glossaries,
// inline codes, protected terms, languages, sentences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encdec/translation/text/cuts.h"
#include "encdec/translation/text/glossary.h"
#include "encdec/translation/text/inline_codes.h"
#include "encdec/translation/text/kept_words.h"
#include "encdec/translation/text/language.h"
#include "encdec/translation/text/sentences.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::Optional;

// Returns a text with a bar at each cut. The digit after each word is the number of its source
// part; it is not in the text.
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
  std::vector<std::size_t> positions = place_cuts(text, all, shares);
  EXPECT_EQ(positions.size(), shares.size());
  for (std::size_t i = positions.size(); i-- > 0;) text.insert(positions[i], "|");
  return text;
}

TEST(Cuts, FollowTheWords) {
  EXPECT_EQ(cut({"eins0", "zwei0", "drei1", "vier1"}, {0.5}), "eins zwei |drei vier");
  EXPECT_EQ(cut({"eins0", "zwei1", "drei1", "vier1"}, {0.5}), "eins |zwei drei vier");
  EXPECT_EQ(cut({"eins0", "zwei1", "drei2", "vier2"}, {0.3, 0.6}), "eins |zwei |drei vier");
  // A single word from the other part does not move the cut.
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

// Returns the terms found in a text: "source>target", or "source=" for a protected term.
std::string found(const Glossary& glossary, const std::string& text, const std::string& language = "en") {
  std::string all;
  for (const Glossary::Match& match : glossary.find(text, language)) {
    if (!all.empty()) all += ' ';
    all += text.substr(match.begin, match.end - match.begin) + (match.is_kept ? "=" : ">" + match.target);
  }
  return all;
}

TEST(Glossary, ReadsTsvAndCsv) {
  Glossary glossary;
  glossary.parse("\xef\xbb\xbf# en de\n cell \tZelle\r\n\nred cell\trote Zelle\tnoun\n", "a.tsv");
  EXPECT_EQ(glossary.terms().size(), 2u);
  glossary.parse("\"a, \"\"b\"\"\",\"c\",en,de\r\nd,e", "a.csv");
  EXPECT_EQ(found(glossary, "a, \"b\" d"), "a, \"b\">c d>e");
}

TEST(Glossary, FindsTheLongestTermOfWholeWordsAndWordsToKeep) {
  Glossary glossary;
  glossary.parse("cell\tZelle\nred cell\trote Zelle\nCell\tBatterie\nC++\tC++\n", "a.tsv");
  EXPECT_EQ(found(glossary, "A red cell, a cell; cells, Cell CELL."),
            "red cell>rote Zelle cell>Zelle Cell>Batterie CELL>Zelle");
  EXPECT_EQ(found(glossary, "excellent"), "");
  EXPECT_EQ(found(glossary, "in C++ and c++"), "C++= c++=");
  EXPECT_EQ(found(Glossary(), "cell"), "");
  Glossary chinese;
  chinese.add("细胞", "cell");
  EXPECT_EQ(found(chinese, "这是细胞。", "zh"), "细胞>cell");
  Glossary kept;
  kept.parse_kept("encdec\n\n \nRed Hat\n", "names");
  EXPECT_EQ(found(kept, "Encdec for Red Hat"), "Encdec= Red Hat=");
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
  const std::pair<std::string, std::string> files[] = {
      {"a\tb\nc\n", "line 2: found one column, expected a term and its translation"},
      {"a\tb\na\tc\n", "line 2: 'a' has two translations, 'b' and 'c', expected one"},
      {"a\t \n", "line 1: a term is empty, expected text"},
      {"a\xff\tb\n", "line 1: a term is not UTF-8"},
  };
  for (const auto& [bytes, error] : files) {
    EXPECT_EQ(message_of<InputError>([&] { Glossary().parse(bytes, "x.tsv"); }), "x.tsv: " + error);
  }
  EXPECT_EQ(message_of<InputError>([] { Glossary().parse("a,b\n\"c\nd\",e\n", "x.csv"); }),
            "x.csv: line 2: 'c\\nd' has a control character, expected none");
  EXPECT_NO_THROW(Glossary().parse("a,b\n\"c\"\"d\",e,en,de\n", "x.csv"));
}

// Returns text with codes inserted as tags. Each word is one letter, and translates the unit given
// by its digit in `units`. A code is written "<b1" (begins before unit 1), ">b4" (ends before unit
// 4) or "-x2" (single, before unit 2). A capital letter means that the pair's other code is
// missing.
std::string tagged(const std::string& units, const std::vector<std::string>& tags) {
  std::string text;
  std::vector<AlignedWord> words;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (i > 0) text += ' ';
    text += static_cast<char>('a' + static_cast<int>(i));
    words.push_back({.begin = 2 * i, .end = 2 * i + 1, .unit = static_cast<std::size_t>(units[i] - '0')});
  }
  std::vector<std::string> markups;
  for (const std::string& tag : tags) markups.push_back((tag[0] == '>' ? "</" : "<") + tag.substr(1, 1) + ">");
  std::vector<AlignedCode> aligned;
  for (const std::string& tag : tags) {
    using Kind = AlignedCode::Kind;
    const Kind kinds[] = {Kind::begin, Kind::end, Kind::alone};
    aligned.push_back({.kind = kinds[std::string("<>-").find(tag[0])],
                       .unit = static_cast<std::size_t>(tag[2] - '0'),
                       .is_whole = tag[1] >= 'a',
                       .follows_space = tag[0] != '>',
                       .precedes_space = tag[0] == '>'});
  }
  std::string whole;
  std::size_t begin = 0;
  for (const auto& [code, position] : place_codes(words, aligned)) {
    whole += text.substr(begin, position - begin) + markups[code];
    begin = position;
  }
  return whole + text.substr(begin);
}

TEST(InlineCodes, FollowTheWordsOfTheirUnits) {
  EXPECT_EQ(tagged("0123", {"<x1", ">x3"}), "a <x>b c</x> d");
  EXPECT_EQ(tagged("3210", {"<x0", ">x2"}), "a b <x>c d</x>");
  EXPECT_EQ(tagged("0210", {"<x1", ">x3"}), "a <x>b c</x> d");
  // A word between two words of the element is included; a word far away is not.
  EXPECT_EQ(tagged("01012222", {"<x1", ">x2"}), "a <x>b</x> c d e f g h");
  EXPECT_EQ(tagged("11011222", {"<x1", ">x2"}), "<x>a b c d e</x> f g h");
  EXPECT_EQ(tagged("12222221", {"<x1", ">x2"}), "<x>a</x> b c d e f g h");
  // Nested elements, and adjacent elements in another order.
  EXPECT_EQ(tagged("012345", {"<x1", "<y2", ">y3", ">x5"}), "a <x>b <y>c</y> d e</x> f");
  EXPECT_EQ(tagged("3412", {"<x1", ">x3", "<y3", ">y5"}), "<y>a b</y> <x>c d</x>");
  EXPECT_EQ(tagged("5512", {"<x1", "<y5", ">y6", ">x3"}), "a b <x>c d<y></y></x>");
}

TEST(InlineCodes, WithoutWordsKeepTheirPosition) {
  EXPECT_EQ(tagged("0123", {"-x2"}), "a b <x>c d");
  EXPECT_EQ(tagged("3120", {"-x2"}), "a b <x>c d");
  EXPECT_EQ(tagged("0011", {"-x5"}), "a b c d<x>");
  EXPECT_EQ(tagged("0123", {"<x2", ">x2"}), "a b <x></x>c d");
  EXPECT_EQ(tagged("0033", {"<x1", "<y1", ">y2", ">x2"}), "a b <x><y></y></x>c d");
  EXPECT_EQ(tagged("", {"<x1", ">x2", "-y3"}), "<x></x><y>");
}

TEST(InlineCodes, MayBeginOrEndOutsideTheText) {
  EXPECT_EQ(tagged("0123", {">X2"}), "a b</X> c d");
  EXPECT_EQ(tagged("0123", {"<X2"}), "a b <X>c d");
  EXPECT_EQ(tagged("3210", {">X2"}), "</X>a b c d");
  EXPECT_EQ(tagged("0123", {"<y0", ">y1", ">X2", "<Z3"}), "<y>a</y> b</X> c <Z>d");
  EXPECT_EQ(tagged("0123", {">Y1", ">X2"}), "a</Y> b</X> c d");
  EXPECT_EQ(tagged("0123", {"<X1", "<Y2"}), "a <X>b <Y>c d");
}

TEST(KeptWords, AreReplacedAndPlacesMoveWithTheText) {
  const std::vector<Replacement> replacements = {{2, 4, "xyz"}, {5, 5, "+"}, {6, 8, ""}};
  EXPECT_EQ(replaced("01234567", replacements), "01xyz4+5");
  for (const auto& [position, wanted] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 0}, {2, 2}, {3, 2}, {4, 5}, {5, 6}, {6, 8}, {7, 8}, {8, 8}}) {
    EXPECT_EQ(moved(position, replacements), wanted) << position;
  }
  EXPECT_EQ(replaced("a", {}), "a");
}

TEST(KeptWords, AreFoundOnceAndWhole) {
  using Words = std::vector<std::string>;
  const auto kept = [](const char* text, const char* source, const Words& words) {
    return find_kept(text, source, words);
  };
  EXPECT_THAT(kept("%d of %s", "%s in %d", {"%s", "%d"}), Optional(ElementsAre(6, 0)));
  EXPECT_THAT(kept("a b", "a b", {}), Optional(ElementsAre()));
  EXPECT_EQ(kept("%d of", "%s in %d", {"%s", "%d"}), std::nullopt);
  EXPECT_EQ(kept("%s %s", "%s", {"%s"}), std::nullopt);
  // The same word twice, and a word that also occurs as a part of the text.
  EXPECT_THAT(kept("%s, %s", "%s %s", {"%s", "%s"}), Optional(ElementsAre(0, 4)));
  EXPECT_THAT(kept("5 x 5", "5 times 5", {"5"}), Optional(ElementsAre(0)));
  EXPECT_EQ(kept("5 x", "5 times 5", {"5"}), std::nullopt);
  // Only whole words count.
  EXPECT_EQ(kept("15", "5", {"5"}), std::nullopt);
  EXPECT_EQ(kept("{names}", "{name}", {"{name}"}), std::nullopt);
  EXPECT_THAT(kept("15 5", "5", {"5"}), Optional(ElementsAre(3)));
  EXPECT_THAT(kept("%s_name %s", "%s %s_name", {"%s", "%s_name"}), Optional(ElementsAre(8, 0)));
}

TEST(KeptWords, TermsAreCountedWithoutTheirEndings) {
  EXPECT_EQ(count_term("Die Zelle, zellen. Einzelle", "Zelle", false), 2u);
  EXPECT_EQ(count_term("Über ÜBER", "über", false), 2u);
  EXPECT_EQ(count_term("Bücher", "cher", false), 0u);
  EXPECT_EQ(count_term("这是细胞", "细胞", true), 1u);
}

TEST(Languages, HaveOneSpelling) {
  const std::pair<const char*, std::vector<const char*>> spellings[] = {
      {"fr", {"fr", "FR", "fra", "fre", "fr_XX", "fra_Latn", ">>fra<<", "fr-CA", "fr-Latn"}},
      {"zh", {"zh", "ZH-HANS", "zho_Hans", "zh_CN", "zh-Hans"}},
      {"zh-Hant", {"zh-Hant", "zho_Hant", "zh_TW", "ZH-HANT"}},
      {"en", {"EN-US"}},
      {"pt", {"PT-BR"}},
      {"sr", {"srp_Cyrl"}},
      {"sr-Latn", {"sr_Latn"}},
      {"ar", {"arb_Arab"}},
      {"he", {"iw"}},
      {"arpabet", {"arpabet"}},
      {"", {""}},
      {">><<", {">><<"}},
  };
  for (const auto& [language, all] : spellings) {
    for (const char* spelling : all) EXPECT_EQ(canonical_language(spelling), language) << spelling;
  }
  EXPECT_EQ(language_name("fr"), "French");
  EXPECT_EQ(language_name("arpabet"), "arpabet");
}

TEST(Languages, AreDetectedAmongTheGivenOnes) {
  const std::vector<std::string> all = {"de", "en", "fr", "zh"};
  EXPECT_EQ(detect_languages("Le chat dort sur le canapé pendant que la pluie tombe.", all).front().language, "fr");
  EXPECT_EQ(detect_languages("Der Hund läuft durch den Garten und bellt die Katze an.", all).front().language, "de");
  EXPECT_EQ(detect_languages("今天的天气非常好，我们一起去公园散步吧。", all).front().language, "zh");
  const auto unknown = detect_languages("12345", all);
  EXPECT_EQ(unknown.size(), all.size());
  EXPECT_EQ(unknown.front().confidence, 0);
  EXPECT_NO_THROW(detect_languages(std::string("\xff\xfe\0x", 4), all));
}

std::string joined(const std::vector<Sentence>& sentences) {
  std::string text;
  for (const Sentence& sentence : sentences) text += sentence.text + sentence.space;
  return text;
}

// Returns the sentences of a text, separated by bars.
std::string shown(const std::vector<Sentence>& sentences) {
  std::string texts;
  for (const Sentence& sentence : sentences) texts += (&sentence == &sentences[0] ? "" : "|") + sentence.text;
  return texts;
}

TEST(Sentences, EndByTheRulesOfTheLanguage) {
  const auto split = [](const char* text, const char* language = "en", Split by = Split::sentences) {
    return shown(split_text(text, by, language));
  };
  EXPECT_EQ(split("Mr. Smith came. He left at 3.5 p.m.  Why?"), "Mr. Smith came.|He left at 3.5 p.m.|Why?");
  EXPECT_EQ(split(".NET is old. The .NET is not. A . B"), ".NET is old.|The .NET is not.|A .|B");
  EXPECT_EQ(split("今天很好。我们走吧！", "zh"), "今天很好。|我们走吧！");
  EXPECT_EQ(split("यह एक है। यह दो है।", "hi"), "यह एक है।|यह दो है।");
  EXPECT_EQ(split("one\ntwo. three"), "one|two. three");
  EXPECT_EQ(split("One. Two\nthree. Four.", "en", Split::sentences_over_lines), "One.|Two\nthree.|Four.");
  EXPECT_EQ(split("One. Two.\n Three.", "en", Split::newlines), "One. Two.|Three.");
  EXPECT_EQ(split(" One. Two.\n ", "en", Split::never), "|One. Two.");
  EXPECT_TRUE(split_text("", Split::sentences, "en").empty());
}

TEST(Sentences, AndTheSpacesBetweenThemJoinToTheText) {
  for (const std::string& text :
       {std::string("  A b.\r\n\r\n\tC d?  E.\n"), std::string("\n\n"), std::string("a\xff b. \xc2"), std::string("…"),
        std::string("\u3000あ。\u3000い。"), std::string("x\0y. z", 6), std::string("A.\u2029B.\u00a0C")}) {
    for (const Split split : {Split::never, Split::newlines, Split::sentences, Split::sentences_over_lines}) {
      const auto sentences = split_text(text, split, "en");
      EXPECT_EQ(joined(sentences), text);
      const auto parts = split_to_fit(sentences, "en", [](const std::string& part) { return part.size() <= 3; });
      EXPECT_EQ(joined(parts), text);
    }
  }
}

TEST(Sentences, AreCutAtSentencesThenAtClausesThenAtWordsIfTooLong) {
  const auto cut = [](const std::string& text, std::size_t longest) {
    return shown(split_to_fit({{text, ""}}, "en", [=](const std::string& part) { return part.size() <= longest; }));
  };
  EXPECT_EQ(cut("He came, saw Mr. Smith, left. Then one, two", 40), "He came, saw Mr. Smith, left.|Then one, two");
  EXPECT_EQ(cut("one two, three four five", 16), "one two,|three four five");
  EXPECT_EQ(cut("今天很好，我们一起走吧", 24), "今天很好，|我们一起走吧");
  EXPECT_EQ(cut("one two three four", 9), "one two|three|four");
  EXPECT_EQ(cut("aaaaaaaa", 4), "aaaa|aaaa");
  EXPECT_EQ(cut("あいう", 3), "あ|い|う");
  EXPECT_EQ(cut("あ", 1), "あ");
}

}  // namespace
}  // namespace encdec
