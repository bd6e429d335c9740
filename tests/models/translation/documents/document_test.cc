#include "encdec/models/translation/documents/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "encdec/models/translation/documents/xml.h"
#include "tests/models/translation/documents/upper_case.h"
#include "tests/support/damage.h"
#include "tests/support/message_of.h"
#include "tests/support/zip_writer.h"

namespace encdec {
namespace {

using Format = DocumentFormat;
using testing::ElementsAre;

// A file, and the same file with its texts in capitals.
struct Sample {
  Format format;
  std::string source;
  std::string upper;
};

std::string archive(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::vector<ZipWriterEntry> zip;
  for (const auto& [name, data] : entries) zip.push_back({.name = name, .data = data});
  return zip_bytes(zip);
}

std::string docx_file(const std::string& paragraph) {
  return archive({{"[Content_Types].xml",
                   "<Types><Override PartName=\"/word/document.xml\" ContentType=\"application/"
                   "vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/>"
                   "</Types>"},
                  {"word/document.xml", "<w:document xmlns:w=\"w\"><w:body>" + paragraph + "</w:body></w:document>"}});
}

std::string odt_file(const std::string& paragraph) {
  return archive({{"mimetype", "application/vnd.oasis.opendocument.text"},
                  {"content.xml", "<o:document xmlns:o=\"o\" xmlns:text=\"t\">" + paragraph + "</o:document>"}});
}

std::string epub_file(const std::string& page, const std::string& language) {
  return archive(
      {{"mimetype", "application/epub+zip"},
       {"META-INF/container.xml", "<container><rootfiles><rootfile full-path=\"b/c.opf\"/></rootfiles></container>"},
       {"b/c.opf", "<package xmlns:dc=\"d\"><dc:language>" + language +
                       "</dc:language><manifest><item id=\"p\" href=\"a%20b.xhtml\" media-type="
                       "\"application/xhtml+xml\"/></manifest><spine><itemref idref=\"p\"/></spine></package>"},
       {"b/a b.xhtml", page}});
}

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = {
      {Format::text, "\xef\xbb\xbfOne line.\r\nTwo.\r\n\r\n  * * *\r\n\r\n\tA last one, see http://a.b/c.\r\n",
       "\xef\xbb\xbfONE LINE.\r\nTWO.\r\n\r\n  * * *\r\n\r\n\tA LAST ONE, SEE http://a.b/c.\r\n"},
      {Format::markdown,
       "---\ntitle: x\n---\n# A title #\n\n> A *quote* with `code` and\n> [a link](http://a.b \"t\"), [own].\n\n"
       "- [ ] an item\\\n  goes on\n\n```\ncode\n```\n\n| a | b \\| c |\n|---|---|\n| 1 | `d` e |\n\n[own]: "
       "http://c.d\n",
       "---\ntitle: x\n---\n# A TITLE #\n\n> A *QUOTE* WITH `code` AND [A LINK](http://a.b \"t\"), [OWN][own].\n\n"
       "- [ ] AN ITEM\\\n  GOES ON\n\n```\ncode\n```\n\n| A | B \\| C |\n|---|---|\n| 1 | `d` E |\n\n[own]: "
       "http://c.d\n"},
      {Format::html, "<html lang='en'><p title=\"x\">A&nbsp;&lt;tag&gt;\n <b>and</b> <br>more.</p><pre>x</pre>",
       "<html lang='en'><p title=\"x\">A\u00a0&lt;TAG&gt; <b>AND</b> <br>MORE.</p><pre>x</pre>"},
      {Format::srt,
       "1\r\n00:00:01,000 --> 00:00:02,000 X1:1\r\n{\\an8}<i>We go</i>\r\nto the\r\n\r\n"
       "2\r\n00:00:02,500 --> 00:00:03,500\r\nhouse.\r\n\r\n3\r\n0:00:04.000 --> 0:00:05.000\r\n- Hi.\r\n- Ho.\r\n",
       "1\r\n00:00:01,000 --> 00:00:02,000 X1:1\r\n{\\an8}<i>WE GO</i> TO THE\r\n\r\n"
       "2\r\n00:00:02,500 --> 00:00:03,500\r\nHOUSE.\r\n\r\n3\r\n0:00:04.000 --> 0:00:05.000\r\n- HI.\r\n- HO.\r\n"},
      {Format::vtt,
       "WEBVTT a header\n\nNOTE a note\n\nSTYLE\n::cue {}\n\nid\n00:01.000 --> 00:02.000 align:start\n"
       "<v Bob>Salt &amp; <00:01.500>pepper</v>\n",
       "WEBVTT a header\n\nNOTE a note\n\nSTYLE\n::cue {}\n\nid\n00:01.000 --> 00:02.000 align:start\n"
       "<v Bob>SALT &amp; PEPPER</v>\n"},
      {Format::po, "# a\nmsgid \"\"\nmsgstr \"Language: \\n\"\n\n#, c-format\nmsgid \"a %s\\n\"\nmsgstr \"\"\n",
       "# a\nmsgid \"\"\nmsgstr \"Language: \\n\"\n\n#, fuzzy, c-format\nmsgid \"a %s\\n\"\nmsgstr \"A %s\\n\"\n"},
      {Format::xliff,
       "<xliff version=\"1.2\"><file><body><trans-unit id=\"1\">\n  <source>a <g id=\"1\">b</g> &lt;</source>\n"
       "</trans-unit><trans-unit id=\"2\" translate=\"no\"><source>c</source></trans-unit></body></file></xliff>",
       "<xliff version=\"1.2\"><file><body><trans-unit id=\"1\">\n  <source>a <g id=\"1\">b</g> &lt;</source>\n  "
       "<target state=\"needs-review-translation\">A <g id=\"1\">B</g> &lt;</target>\n"
       "</trans-unit><trans-unit id=\"2\" translate=\"no\"><source>c</source></trans-unit></body></file></xliff>"},
      {Format::android,
       "<resources><string name=\"a\">It\\'s <b>%1$s</b> &amp; <xliff:g xmlns:xliff=\"x\" "
       "id=\"i\">it</xliff:g></string>"
       "<string name=\"b\" translatable=\"false\">x</string><string name=\"c\">@string/a</string>"
       "<plurals name=\"d\"><item quantity=\"one\">a day</item></plurals></resources>",
       "<resources><string name=\"a\">IT\\'S <b>%1$s</b> &amp; <xliff:g xmlns:xliff=\"x\" "
       "id=\"i\">it</xliff:g></string>"
       "<string name=\"b\" translatable=\"false\">x</string><string name=\"c\">@string/a</string>"
       "<plurals name=\"d\"><item quantity=\"one\">A DAY</item></plurals></resources>"},
      {Format::properties, "# a comment\na.b = one \\\n    two \\u00e4\nc:It''s {0}\n",
       "# a comment\na.b = ONE TWO \\u00e4\nc:IT''S {0}\n"},
      {Format::docx,
       docx_file("<w:p><w:pPr/><w:r><w:t>Hel</w:t></w:r><w:r w:rsidR=\"1\"><w:t xml:space=\"preserve\">lo </w:t></w:r>"
                 "<w:r><w:rPr><w:b/></w:rPr><w:t>x</w:t></w:r></w:p>"),
       docx_file("<w:p><w:pPr/><w:r><w:t xml:space=\"preserve\">HELLO </w:t></w:r>"
                 "<w:r><w:rPr><w:b/></w:rPr><w:t xml:space=\"preserve\">X</w:t></w:r></w:p>")},
      {Format::odt,
       odt_file("<text:p>One<text:note><text:p>inner</text:p></text:note> two <text:span>x</text:span></text:p>"),
       odt_file("<text:p>ONE<text:note><text:p>INNER</text:p></text:note> TWO <text:span>X</text:span></text:p>")},
      {Format::epub, epub_file("<html xmlns=\"h\"><body><p>a <i>b</i></p></body></html>", "en"),
       epub_file("<html xmlns=\"h\"><body><p>A <i>B</i></p></body></html>", "en")},
  };
  return all;
}

TEST(Document, IsTheSameBytesWithoutTranslations) {
  for (const Sample& sample : samples()) {
    const Document document = Document::parse(sample.source, sample.format, "file");
    EXPECT_EQ(document.write(std::vector<Segment>(document.segments().size())).bytes, sample.source)
        << to_string(sample.format);
  }
}

TEST(Document, IsTheSameBytesIfTranslationsAreTheirSources) {
  for (const Sample& sample : samples()) {
    if (sample.format == Format::po || sample.format == Format::xliff) continue;  // they have targets
    const Document document = Document::parse(sample.source, sample.format, "file");
    EXPECT_EQ(document.write(document.segments()).bytes, sample.source) << to_string(sample.format);
  }
}

TEST(Document, ChangesOnlyItsTexts) {
  for (const Sample& sample : samples()) {
    EXPECT_EQ(in_upper_case(sample.source, sample.format), sample.upper) << to_string(sample.format);
  }
}

// Uses all that can be read from a file, and writes it with good and with bad translations.
void use(const std::string& bytes, Format format) {
  const Document document = Document::parse(bytes, format, "file");
  std::vector<Segment> translations = upper_case(document.segments());
  for (std::size_t i = 0; i < translations.size(); ++i) EXPECT_FALSE(document.where(i).empty());
  document.write(translations);
  for (Segment& translation : translations) {
    if (!translation.codes.empty()) translation.codes.pop_back();
    for (InlineCode& code : translation.codes) code.place = translation.text.size();
    translation.cuts.clear();
  }
  document.write(translations);
  EXPECT_EQ(document.write(std::vector<Segment>(translations.size())).bytes, bytes);
}

TEST(Document, IsReadOrRefusedIfAByteIsDamaged) {
  for (const Sample& sample : samples()) {
    const DamageReport report =
        read_damaged(sample.source, [&](const std::string& damaged) { use(damaged, sample.format); });
    EXPECT_GT(report.read, 0u) << to_string(sample.format);
  }
}

TEST(Document, IsReadOrRefusedIfItsPartsAreMixed) {
  constexpr int kMutants = 300;
  for (const Sample& sample : samples()) {
    std::mt19937 random(1);
    for (int i = 0; i < kMutants; ++i) {
      std::string mutant = sample.source;
      for (int edits = 0; edits < 3; ++edits) {
        const std::size_t place = random() % (mutant.size() + 1), from = random() % (mutant.size() + 1);
        const std::string moved = mutant.substr(from, random() % 40);
        if (random() % 2 == 0) mutant.erase(from, moved.size());
        mutant.insert(std::min(place, mutant.size()), moved);
      }
      try {
        use(mutant, sample.format);
      } catch (const Error& error) {
        EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
      }
    }
  }
}

TEST(Document, KnowsFormatsByTheNamesOfFiles) {
  EXPECT_EQ(format_of("a/b.de.PO"), Format::po);
  EXPECT_EQ(format_of("x.xlf"), Format::xliff);
  EXPECT_EQ(format_of("x.markdown"), Format::markdown);
  EXPECT_EQ(format_of("a.po/x"), std::nullopt);
  EXPECT_EQ(format_of("x.pdf"), std::nullopt);
  for (const std::string& extension : document_extensions()) EXPECT_NE(format_of("x" + extension), std::nullopt);
  for (const auto& [format, name] : kDocumentFormats) EXPECT_EQ(document_format_named(name), format);
}

TEST(Document, NeedsATranslationForEachSegment) {
  const Document document = Document::parse("a", Format::text, "file");
  EXPECT_EQ(message_of<InputError>([&] { document.write({}); }), "0 translations, expected 1, one for each segment");
}

TEST(Document, IsNotWrittenIfItsXmlWouldBreak) {
  const documents::TextFile file({.bytes = "<a>b</a>", .name = "file"}, documents::xml_syntax(documents::Spaces::keep));
  EXPECT_EQ(refusal_of("file",
                       [&] {
                         file.with({{.range = {3, 4}, .pieces = {{.text = "<b>"}}}});
                       }),
            "file: its translation: line 1, column 9: mismatched tag, expected well-formed XML");
}

TEST(Document, SaysWhereASegmentIs) {
  EXPECT_EQ(Document::parse("a\n\nb\nc", Format::text, "file").where(1), "line 3");
  EXPECT_EQ(Document::parse(docx_file("<w:p/><w:p><w:r><w:t>a</w:t></w:r></w:p>"), Format::docx, "file").where(0),
            "word/document.xml, paragraph 2");
}

TEST(Document, RefusesOtherEncodings) {
  const auto refusal = [](const std::string& bytes, Format format) {
    return refusal_of("file", [&] { Document::parse(bytes, format, "file"); });
  };
  EXPECT_EQ(refusal("a\n\xe4", Format::srt), "file: line 2, column 1: byte 2 is 0xe4, expected UTF-8");
  EXPECT_EQ(refusal(std::string("\xff\xfe"
                                "a\0",
                                4),
                    Format::text),
            "file: line 1, column 1: UTF-16, expected UTF-8");
  EXPECT_EQ(refusal("\xfe\xff", Format::properties), "file: line 1, column 1: UTF-16, expected UTF-8");
  EXPECT_EQ(refusal("<?xml version=\"1.0\" encoding=\"latin1\"?><resources/>", Format::android),
            "file: line 1, column 1: encoding is not UTF-8, expected UTF-8");
  EXPECT_EQ(refusal("msgid \"\"\nmsgstr \"charset=latin1\\n\"\n", Format::po),
            "file: line 2, column 1: charset 'latin1', expected UTF-8");
}

TEST(Document, RefusesFilesOfOtherFormats) {
  const auto refusal = [](const std::string& bytes, Format format) {
    return refusal_of("file", [&] { Document::parse(bytes, format, "file"); });
  };
  EXPECT_EQ(refusal("a", Format::srt), "file: line 1, column 1: no times, expected 00:00:01,000 --> 00:00:02,000");
  EXPECT_EQ(refusal("a", Format::vtt), "file: line 1, column 1: no WEBVTT in the first line, expected it");
  EXPECT_EQ(refusal("# a\nb", Format::po), "file: line 2, column 1: 'b', expected a comment, msgctxt or msgid");
  EXPECT_EQ(refusal("msgid \"a\nmsgstr \"\"", Format::po), "file: line 1, column 9: end of the line, expected a quote");
  EXPECT_EQ(refusal("<a/>", Format::xliff), "file: line 1, column 1: no element xliff, expected one");
  EXPECT_EQ(refusal("<a>", Format::android), "file: line 1, column 4: no element found, expected well-formed XML");
  EXPECT_EQ(refusal("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", Format::android),
            "file: line 1, column 25: declaration of an entity, expected none");
  EXPECT_EQ(refusal(archive({{"a", "b"}}), Format::docx), "file: no entry '[Content_Types].xml', expected one");
  EXPECT_EQ(refusal(archive({{"a", "b"}}), Format::odt), "file: no texts of odt, expected a document of this format");
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "<a>";
  EXPECT_THAT(refusal(deep, Format::xliff), testing::HasSubstr("element inside 256 others, expected fewer"));
}

// Returns the HTML of "a <b>c</b> <i>d</i>" with `change` made to the translation, and why it was not used.
WrittenDocument changed_html(const std::function<void(Segment&)>& change) {
  const Document document = Document::parse("<p>a <b>c</b> <i>d</i>", Format::html, "file");
  Segment translation = document.segments().at(0);
  change(translation);
  return document.write(std::vector{translation});
}

TEST(Document, AddsMissingCodesAtTheEnd) {
  EXPECT_EQ(changed_html([](Segment& t) { t = {.text = "x"}; }).bytes, "<p>x<b></b><i></i>");
  EXPECT_EQ(changed_html([](Segment& t) { t.codes.erase(t.codes.begin()); }).bytes, "<p>a c <i>d</i><b></b>");
}

TEST(Document, HasAnEndOfALineForABreakBetweenWords) {
  const std::string file = odt_file("<text:p>one<text:line-break/>two<text:tab/>three</text:p>");
  EXPECT_THAT(texts_of(file, Format::odt), ElementsAre("one\ntwo\nthree"));
  EXPECT_EQ(in_upper_case(file, Format::odt), odt_file("<text:p>ONE<text:line-break/>TWO<text:tab/>THREE</text:p>"));
  EXPECT_EQ(with_first_text(file, Format::odt, "eins zwei").bytes,
            odt_file("<text:p>eins zwei<text:line-break/><text:tab/></text:p>"));
}

TEST(Document, HasASpaceForThatOfOpenDocument) {
  const std::string file = odt_file("<text:p>one<text:s text:c=\"3\"/>two <text:s/>three</text:p>");
  EXPECT_THAT(texts_of(file, Format::odt), ElementsAre("one two three"));
  EXPECT_EQ(in_upper_case(file, Format::odt),
            odt_file("<text:p>ONE<text:s text:c=\"3\"/> TWO <text:s/>THREE</text:p>"));
}

TEST(Document, DropsCodesThatTheSourceDoesNotHave) {
  EXPECT_EQ(changed_html([](Segment& t) {
              t.text = "e c d", t.codes.insert(t.codes.begin(), {.place = 0, .markup = "<x>"});
            }).bytes,
            "<p>e <b>c</b> <i>d</i>");
}

TEST(Document, DoesNotUseATranslationWithPlacesOutsideOfIt) {
  const WrittenDocument written = changed_html([](Segment& t) { t.text = "x"; });
  EXPECT_EQ(written.bytes, "<p>a <b>c</b> <i>d</i>");
  ASSERT_EQ(written.unused.size(), 1u);
  EXPECT_EQ(written.unused[0].reason, "places of codes, placeholders or cuts are not in order or not in the text");
}

TEST(Document, DoesNotUseATranslationWithoutItsPlaceholders) {
  const WrittenDocument written = with_first_text("see http://a.b", Format::text, "siehe dort");
  EXPECT_EQ(written.bytes, "see http://a.b");
  ASSERT_EQ(written.unused.size(), 1u);
  EXPECT_EQ(written.unused[0].reason, "placeholder 'http://a.b' is missing");
}

TEST(Document, DoesNotUseATranslationThatWouldBreakXml) {
  const Document document =
      Document::parse(odt_file("<text:p><text:a>a</text:a> <text:span>b</text:span> c</text:p>"), Format::odt, "file");
  Segment translation = document.segments().at(0);
  translation.text = "x y z";
  translation.codes = {translation.codes[0], translation.codes[2], translation.codes[1], translation.codes[3]};
  for (std::size_t i = 0; i < 4; ++i) translation.codes[i].place = i;
  const WrittenDocument written = document.write(std::vector{translation});
  ASSERT_EQ(written.unused.size(), 1u);
  EXPECT_EQ(written.unused[0].reason, "the codes are not nested as in the source");
}

}  // namespace
}  // namespace encdec
