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
using testing::StartsWith;

std::string entry(const std::string& id, const std::string& target = "", const std::string& flags = "") {
  return flags + "msgid \"" + id + "\"\nmsgstr \"" + target + "\"\n";
}

// Returns why an entry's translation was not used.
std::string reason_of(const std::string& file, const std::string& translation) {
  const WrittenDocument written = with_first_text(file, Format::po, translation);
  return written.unused.empty() ? "" : written.unused[0].reason;
}

std::string upper_po(const std::string& file, const DocumentOptions& options = {}) {
  return in_upper_case(file, Format::po, options);
}

// Returns a file with one entry, after its text `id` was translated.
std::string translated(const std::string& id, const std::string& target, const DocumentOptions& options = {}) {
  return with_first_text(entry(id), Format::po, target, options).bytes;
}

TEST(Catalogue, HasTextsOfEntriesWithoutTranslation) {
  const std::string file = entry("", "a\\n") + "\n" + entry("one") + "\n" + entry("two", "zwei") + "\n" +
                           entry("three", "drei", "#, fuzzy\n") + "\n#~ msgid \"four\"\n#~ msgstr \"\"\n";
  EXPECT_THAT(texts_of(file, Format::po), ElementsAre("one"));
  EXPECT_THAT(texts_of(file, Format::po, {.entries = CatalogueEntries::fuzzy}), ElementsAre("one", "three"));
  EXPECT_THAT(texts_of(file, Format::po, {.entries = CatalogueEntries::all}), ElementsAre("one", "two", "three"));
  EXPECT_THAT(texts_of("domain \"d\"\n" + entry("a") + "domain \"e\"\n" + entry("b"), Format::po),
              ElementsAre("a", "b"));
}

TEST(Catalogue, MarksNewTranslationsAsFuzzy) {
  EXPECT_EQ(upper_po("#: a.c\n" + entry("one")), "#: a.c\n" + entry("one", "ONE", "#, fuzzy\n"));
  EXPECT_EQ(upper_po(entry("one", "", "#, c-format\n")), entry("one", "ONE", "#, fuzzy, c-format\n"));
  EXPECT_EQ(upper_po(entry("one"), {.mark_fuzzy = false}), entry("one", "ONE"));
  EXPECT_EQ(upper_po("# a\n#| msgid \"on\"\nmsgctxt \"c\"\n" + entry("one")),
            "# a\n#, fuzzy\n#| msgid \"on\"\nmsgctxt \"c\"\n" + entry("one", "ONE"));
}

TEST(Catalogue, KeepsSpacesAndWrapsLongTranslationsAsGettextDoes) {
  EXPECT_THAT(translated("\\n Name: \\n", "Titel:"), HasSubstr("msgstr \"\"\n\"\\n\"\n\" Titel: \\n\"\n"));
  EXPECT_THAT(translated("a", times("wort ", 20) + "x"),
              HasSubstr("msgstr \"\"\n\"" + times("wort ", 15) + "\"\n\"" + times("wort ", 5) + "x\"\n"));
}

TEST(Catalogue, NumbersPlaceholdersInAnotherOrderAndRefusesOthers) {
  const std::string file = entry("%s has %d", "", "#, c-format\n");
  EXPECT_EQ(reason_of(file, "%d"), "placeholder '%d' is missing");
  EXPECT_EQ(reason_of(entry("to {name}", "", "#, python-brace-format\n"), "an {nom}"),
            "placeholder '{name}' is missing");
  const Document document = Document::parse(file, Format::po, "file");
  const Segment turned{.text = "%d hat %s", .placeholders = {{.begin = 0, .end = 2}, {.begin = 7, .end = 9}}};
  EXPECT_THAT(document.write(std::vector{turned}).bytes, HasSubstr("msgstr \"%2$d hat %1$s\"\n"));
  const Segment more{.text = "%s hat %d %u", .placeholders = document.segments()[0].placeholders};
  EXPECT_EQ(document.write(std::vector{more}).unused.at(0).reason, "the placeholders differ from the source");
  const Document python = Document::parse(entry("%s has %d", "", "#, python-format\n"), Format::po, "file");
  EXPECT_EQ(python.write(std::vector{turned}).unused.at(0).reason,
            "the placeholders are in another order than in the source");
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
  const std::string file = entry("Save _As...") + "\n" + entry("E&xit") + "\n" + entry("AT&T") + "\n" + entry("a_b_c");
  EXPECT_THAT(texts_of(file, Format::po), ElementsAre("Save As...", "Exit", "AT&T", "a_b_c"));
  EXPECT_THAT(translated("_File", "Datei"), HasSubstr("msgstr \"_Datei\""));
  EXPECT_THAT(translated("_Edit", "Neu Editieren"), HasSubstr("msgstr \"Neu _Editieren\""));
  EXPECT_THAT(translated("_Open...", "\u6253\u5f00...", {.target_language = "zh"}),
              HasSubstr("msgstr \"\u6253\u5f00(_O)...\""));
}

TEST(Catalogue, HasCodesForTagsInPairs) {
  const std::string id = "_The <b>cat</b><br>has %d <file> &amp; more";
  const Document document = Document::parse(entry(id, "", "#, c-format\n"), Format::po, "file");
  const Segment& segment = document.segments().at(0);
  EXPECT_EQ(segment.text, "_The cat\nhas %d <file> &amp; more");
  EXPECT_EQ(segment.codes.size(), 3u);
  EXPECT_EQ(segment.placeholders.size(), 3u);
  EXPECT_THAT(upper_po(entry("A <b>cat</b><br>x")), HasSubstr("msgstr \"A <b>CAT</b><br>X\"\n"));
  EXPECT_THAT(translated("_Bold <b>x</b>", "Fett"), HasSubstr("\"_Fett<b></b>\""));
}

TEST(Catalogue, NumbersPlaceholdersBesideThoseOfTags) {
  const Document document = Document::parse(entry("<a href='%s'>%d</a> x %s", "", "#, c-format\n"), Format::po, "file");
  Segment turned = document.segments().at(0);
  turned.text = "%s x %d";
  turned.codes[0].position = 5;
  turned.codes[1].position = 7;
  turned.placeholders = {{.begin = 0, .end = 2}, {.begin = 5, .end = 7}};
  EXPECT_THAT(document.write(std::vector{turned}).bytes, HasSubstr("msgstr \"%1$s x <a href='%3$s'>%2$d</a>\"\n"));
}

TEST(Catalogue, TranslatesEachPluralFormOfTheLanguage) {
  const std::string ids = "#, c-format\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\n",
                    file = ids + "msgstr[0] \"\"\nmsgstr[1] \"\"\n";
  EXPECT_THAT(texts_of(file, Format::po, {.target_language = "de"}), ElementsAre("1 file", "2 files"));
  EXPECT_THAT(texts_of(file, Format::po, {.target_language = "ru"}), ElementsAre("1 file", "2 files", "5 files"));
  EXPECT_EQ(upper_po(file, {.target_language = "ru", .mark_fuzzy = false}),
            ids + "msgstr[0] \"%d FILE\"\nmsgstr[1] \"%d FILES\"\nmsgstr[2] \"%d FILES\"\n");
  EXPECT_EQ(upper_po(file, {.target_language = "ja", .mark_fuzzy = false}), ids + "msgstr[0] \"%d FILES\"\n");
  // A header without Plural-Forms gets one.
  EXPECT_THAT(
      upper_po(entry("", "Language: de\\n") + "\n" + file, {.target_language = "de"}),
      StartsWith("msgid \"\"\nmsgstr \"Language: de\\n\"\n\"Plural-Forms: nplurals=2; plural=(n != 1);\\n\"\n\n"));
}

TEST(Catalogue, FillsTheHeaderOfATemplate) {
  const auto header = [](const std::string& language, const std::string& charset, const std::string& plurals) {
    return "msgid \"\"\nmsgstr \"\"\n\"Language: " + language +
           "\\n\"\n\"Content-Type: text/plain; charset=" + charset + "\\n\"\n\"Plural-Forms: nplurals=" + plurals +
           ";\\n\"\n\n";
  };
  EXPECT_THAT(upper_po(header("", "CHARSET", "INTEGER; plural=EXPRESSION") + entry("a"), {.target_language = "pt-BR"}),
              StartsWith(header("pt_BR", "UTF-8", "2; plural=(n > 1)")));
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
  for (const char* language : {"en", "de", "ja", "fr", "pt_BR", "ru", "pl", "cs", "lt", "lv", "ro", "sl", "ga", "ar"}) {
    EXPECT_TRUE(PluralForms::parse(PluralForms::header_of(language))) << language;
  }
}

TEST(PluralForms, AreNotReadFromOtherTexts) {
  const std::string many(1'000'000, '(');  // nesting is limited
  for (const std::string& header :
       {std::string(), std::string("nplurals=0; plural=0;"), std::string("nplurals=2; plural=2;"),
        std::string("nplurals=2; plural=n/0;"), std::string("nplurals=2; plural=(n;"),
        std::string("nplurals=2; plural=n!;"), std::string("nplurals=99; plural=0;"),
        std::string("nplurals=1+1; plural=0;"), "nplurals=" + many, "nplurals=2; plural=" + many + "n;",
        "nplurals=2; plural=" + std::string(1'000'000, '!') + "n;",
        "nplurals=1; plural=" + many.substr(0, 400) + ";"}) {
    EXPECT_FALSE(PluralForms::parse(header)) << header.substr(0, 100);
  }
}

}  // namespace
}  // namespace encdec
