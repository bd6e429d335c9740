#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/translation/documents/plural_forms.h"
#include "tools/translation/tests/documents/upper_case.h"

namespace encdec {

using namespace documents;

namespace {

using Format = DocumentFormat;
using testing::ElementsAre;
using testing::HasSubstr;

std::string entry(const std::string& id, const std::string& target = "", const std::string& flags = "") {
  return flags + "msgid \"" + id + "\"\nmsgstr \"" + target + "\"\n";
}

// The reason why the translation of an entry was not used.
std::string reason_of(const std::string& file, const std::string& translation) {
  const WrittenDocument written = with_first_text(file, Format::po, translation);
  return written.unused.empty() ? "" : written.unused[0].reason;
}

TEST(Catalogue, HasTextsOfEntriesWithoutTranslation) {
  const std::string file = entry("", "a\\n") + "\n" + entry("one") + "\n" + entry("two", "zwei") + "\n" +
                           entry("three", "drei", "#, fuzzy\n") + "\n#~ msgid \"four\"\n#~ msgstr \"\"\n";
  EXPECT_THAT(texts_of(file, Format::po), ElementsAre("one"));
  EXPECT_THAT(texts_of(file, Format::po, {.entries = CatalogueEntries::fuzzy}), ElementsAre("one", "three"));
  EXPECT_THAT(texts_of(file, Format::po, {.entries = CatalogueEntries::all}), ElementsAre("one", "two", "three"));
}

TEST(Catalogue, MarksNewTranslationsAsFuzzy) {
  EXPECT_EQ(in_upper_case("#: a.c\n" + entry("one"), Format::po), "#: a.c\n" + entry("one", "ONE", "#, fuzzy\n"));
  EXPECT_EQ(in_upper_case(entry("one", "", "#, c-format\n"), Format::po), entry("one", "ONE", "#, fuzzy, c-format\n"));
  EXPECT_EQ(in_upper_case(entry("one"), Format::po, {.mark_fuzzy = false}), entry("one", "ONE"));
}

TEST(Catalogue, PutsTheFlagBeforeThePreviousText) {
  EXPECT_EQ(in_upper_case("# a\n#| msgid \"on\"\nmsgctxt \"c\"\n" + entry("one"), Format::po),
            "# a\n#, fuzzy\n#| msgid \"on\"\nmsgctxt \"c\"\n" + entry("one", "ONE"));
}

TEST(Catalogue, KeepsSpacesAndEndsOfLinesAroundATranslation) {
  EXPECT_THAT(with_first_text(entry("\\n Name: \\n"), Format::po, "Titel:").bytes,
              HasSubstr("msgstr \"\"\n\"\\n\"\n\" Titel: \\n\"\n"));
}

TEST(Catalogue, WrapsLongTranslationsAsGettextDoes) {
  std::string words;
  for (int i = 0; i < 20; ++i) words += "wort ";
  const std::string line = words.substr(0, 75);
  EXPECT_THAT(with_first_text(entry("a"), Format::po, words + "x").bytes,
              HasSubstr("msgstr \"\"\n\"" + line + "\"\n\"wort wort wort wort wort x\"\n"));
}

TEST(Catalogue, NumbersPlaceholdersInAnotherOrderAndRefusesOthers) {
  const std::string file = entry("%s has %d", "", "#, c-format\n");
  EXPECT_EQ(reason_of(file, "%d"), "placeholder '%d' is missing");
  EXPECT_EQ(reason_of(entry("to {name}", "", "#, python-brace-format\n"), "an {nom}"),
            "placeholder '{name}' is missing");
  const Document document = Document::parse(file, Format::po, "file");
  Segment turned{.text = "%d hat %s", .placeholders = {{.begin = 0, .end = 2}, {.begin = 7, .end = 9}}};
  EXPECT_THAT(document.write(std::vector{turned}).bytes, HasSubstr("msgstr \"%2$d hat %1$s\"\n"));
  Segment more{.text = "%s hat %d %u", .placeholders = document.segments()[0].placeholders};
  EXPECT_EQ(document.write(std::vector{more}).unused.at(0).reason, "the placeholders are not those of the source");
}

TEST(Catalogue, FindsPlaceholdersByTheFlagsOfAnEntry) {
  const auto placeholders = [](const std::string& id, const std::string& flag) {
    const Document document = Document::parse(entry("x " + id, "", "#, " + flag + "\n"), Format::po, "file");
    std::vector<std::string> found;
    for (const Placeholder& p : document.segments().at(0).placeholders) {
      found.push_back(document.segments()[0].text.substr(p.begin, p.end - p.begin));
    }
    return found;
  };
  EXPECT_THAT(placeholders("%-5.2f %% %1$s %<PRIu64>", "c-format"), ElementsAre("%-5.2f", "%%", "%1$s", "%<PRIu64>"));
  EXPECT_THAT(placeholders("%(name)s {a}", "python-format"), ElementsAre("%(name)s"));
  EXPECT_THAT(placeholders("{0!r} %s {{", "python-brace-format"), ElementsAre("{0!r}"));
  EXPECT_THAT(placeholders("%1 %L2 %n", "qt-format"), ElementsAre("%1", "%L2", "%n"));
  EXPECT_THAT(placeholders("$a ${b} $1", "sh-format"), ElementsAre("$a", "${b}"));
  EXPECT_THAT(placeholders("|1$d| a|b", "boost-format"), ElementsAre("|1$d|"));
  EXPECT_THAT(placeholders("100% sure", "no-c-format"), ElementsAre());
}

TEST(Catalogue, TakesTheMarkOutOfAMnemonic) {
  EXPECT_THAT(
      texts_of(entry("Save _As...") + "\n" + entry("E&xit") + "\n" + entry("AT&T") + "\n" + entry("a_b_c"), Format::po),
      ElementsAre("Save As...", "Exit", "AT&T", "a_b_c"));
  EXPECT_THAT(with_first_text(entry("_File"), Format::po, "Datei").bytes, HasSubstr("msgstr \"_Datei\""));
  EXPECT_THAT(with_first_text(entry("_Edit"), Format::po, "Neu Editieren").bytes,
              HasSubstr("msgstr \"Neu _Editieren\""));
  EXPECT_THAT(with_first_text(entry("_Open..."), Format::po, "\u6253\u5f00...", {.target_language = "zh"}).bytes,
              HasSubstr("msgstr \"\u6253\u5f00(_O)...\""));
}

const std::string kPlural =
    "#, c-format\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n";

TEST(Catalogue, HasCodesForTagsInPairs) {
  const std::string id = "_The <b>cat</b><br>has %d <file> &amp; more";
  const Document document = Document::parse(entry(id, "", "#, c-format\n"), Format::po, "file");
  const Segment& segment = document.segments().at(0);
  EXPECT_EQ(segment.text, "_The cat\nhas %d <file> &amp; more");
  EXPECT_EQ(segment.codes.size(), 3u);
  EXPECT_EQ(segment.placeholders.size(), 3u);
  EXPECT_THAT(in_upper_case(entry("A <b>cat</b><br>x"), Format::po), HasSubstr("msgstr \"A <b>CAT</b><br>X\"\n"));
  EXPECT_THAT(with_first_text(entry("_Bold <b>x</b>"), Format::po, "Fett").bytes, HasSubstr("\"_Fett<b></b>\""));
}

TEST(Catalogue, NumbersPlaceholdersBesideThoseOfTags) {
  const Document document = Document::parse(entry("<a href='%s'>%d</a> x %s", "", "#, c-format\n"), Format::po, "file");
  Segment turned = document.segments().at(0);
  turned.text = "%s x %d";
  turned.codes[0].place = 5;
  turned.codes[1].place = 7;
  turned.placeholders = {{.begin = 0, .end = 2}, {.begin = 5, .end = 7}};
  EXPECT_THAT(document.write(std::vector{turned}).bytes, HasSubstr("msgstr \"%1$s x <a href='%3$s'>%2$d</a>\"\n"));
}

TEST(Catalogue, TranslatesEachPluralFormWithANumber) {
  EXPECT_THAT(texts_of(kPlural, Format::po, {.target_language = "de"}), ElementsAre("1 file", "2 files"));
  EXPECT_THAT(texts_of(kPlural, Format::po, {.target_language = "ru"}), ElementsAre("1 file", "2 files", "5 files"));
  EXPECT_THAT(texts_of(kPlural, Format::po, {.target_language = "ja"}), ElementsAre("2 files"));
}

TEST(Catalogue, WritesThePluralFormsOfTheLanguage) {
  EXPECT_EQ(in_upper_case(kPlural, Format::po, {.target_language = "ru", .mark_fuzzy = false}),
            "#, c-format\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"%d FILE\"\nmsgstr[1] \"%d FILES\"\n"
            "msgstr[2] \"%d FILES\"\n");
  EXPECT_EQ(in_upper_case(kPlural, Format::po, {.target_language = "ja", .mark_fuzzy = false}),
            "#, c-format\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"%d FILES\"\n");
}

TEST(Catalogue, FillsTheHeaderOfATemplate) {
  const std::string header =
      "msgid \"\"\nmsgstr \"\"\n\"Language: \\n\"\n\"Content-Type: text/plain; charset=CHARSET\\n\"\n"
      "\"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n\"\n\n";
  EXPECT_THAT(in_upper_case(header + entry("a"), Format::po, {.target_language = "pt-BR"}),
              testing::StartsWith("msgid \"\"\nmsgstr \"\"\n\"Language: pt_BR\\n\"\n"
                                  "\"Content-Type: text/plain; charset=UTF-8\\n\"\n"
                                  "\"Plural-Forms: nplurals=2; plural=(n > 1);\\n\"\n\n"));
}

TEST(Catalogue, GetsPluralFormsIfTheHeaderHasNone) {
  EXPECT_THAT(in_upper_case(entry("", "Language: de\\n") + "\n" + kPlural, Format::po, {.target_language = "de"}),
              testing::StartsWith("msgid \"\"\nmsgstr \"Language: de\\n\"\n\"Plural-Forms: nplurals=2; plural=(n != "
                                  "1);\\n\"\n\n"));
}

TEST(Catalogue, OfPythonKeepsTheOrderOfItsPlaceholders) {
  const Document document = Document::parse(entry("%s has %d", "", "#, python-format\n"), Format::po, "file");
  const Segment turned{.text = "%d hat %s", .placeholders = {{.begin = 0, .end = 2}, {.begin = 7, .end = 9}}};
  EXPECT_EQ(document.write(std::vector{turned}).unused.at(0).reason,
            "the placeholders are in another order than in the source");
}

TEST(Catalogue, MayHaveDomains) {
  const std::string file = "domain \"d\"\n" + entry("a") + "domain \"e\"\n" + entry("b");
  EXPECT_THAT(texts_of(file, Format::po), ElementsAre("a", "b"));
}

TEST(PluralForms, RefuseNestingWithoutALimit) {
  const std::string deep(1'000'000, '(');
  EXPECT_FALSE(PluralForms::parse("nplurals=" + deep));
  EXPECT_FALSE(PluralForms::parse("nplurals=2; plural=" + deep + "n;"));
  EXPECT_FALSE(PluralForms::parse("nplurals=2; plural=" + std::string(1'000'000, '!') + "n;"));
  EXPECT_FALSE(PluralForms::parse("nplurals=1+1; plural=0;"));
}

TEST(PluralForms, EvaluateTheExpressionOfTheHeader) {
  const auto forms = PluralForms::parse(
      "Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);");
  ASSERT_TRUE(forms);
  EXPECT_EQ(forms->count(), 3u);
  EXPECT_EQ(forms->form_of_one(), 0u);
  EXPECT_EQ(forms->example(0), std::nullopt);
  EXPECT_EQ(forms->example(1), 2);
  EXPECT_EQ(forms->example(2), 5);
}

TEST(PluralForms, OfEveryKnownLanguageAreValid) {
  for (const char* language : {"en", "de", "ja", "fr", "pt_BR", "ru", "pl", "cs", "lt", "lv", "ro", "sl", "ga", "ar"}) {
    EXPECT_TRUE(PluralForms::parse(PluralForms::header_of(language))) << language;
  }
}

TEST(PluralForms, AreNotReadFromOtherTexts) {
  for (const char* header : {"", "nplurals=0; plural=0;", "nplurals=2; plural=2;", "nplurals=2; plural=n/0;",
                             "nplurals=2; plural=(n;", "nplurals=2; plural=n!;", "nplurals=99; plural=0;"}) {
    EXPECT_FALSE(PluralForms::parse(header)) << header;
  }
  EXPECT_FALSE(PluralForms::parse("nplurals=1; plural=" + std::string(400, '(') + ";"));
}

}  // namespace
}  // namespace encdec
