#include "encdec/translation/documents/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <stdexcept>

#include "encdec/engine/base/cancellation.h"
#include "encdec/translation/documents/xml.h"
#include "tests/support/damage.h"
#include "tests/support/message_of.h"
#include "tools/translation/tests/documents/upper_case.h"

namespace encdec {
namespace {

using Format = DocumentFormat;
using testing::ElementsAre;

// A file, and the same file with its texts in upper case.
struct Sample {
  Format format;
  std::string source;
  std::string upper;
};

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = {
      {Format::text, "\xef\xbb\xbfOne line.\r\nTwo.\r\n\r\n  * * *\r\n\r\n\tA last one, see http://a.b/c.\r\n",
       "\xef\xbb\xbfONE LINE.\r\nTWO.\r\n\r\n  * * *\r\n\r\n\tA LAST ONE, SEE http://a.b/c.\r\n"},
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
  };
  return all;
}

TEST(Document, ChangesOnlyItsTexts) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(name_of(kDocumentFormats, sample.format));
    const Document document = Document::parse(sample.source, sample.format, "file");
    EXPECT_EQ(document.write(std::vector<Segment>(document.segments().size())).bytes, sample.source);
    EXPECT_EQ(document.write(upper_case(document.segments())).bytes, sample.upper);
    if (sample.format == Format::po || sample.format == Format::xliff) continue;  // they have targets
    EXPECT_EQ(document.write(document.segments()).bytes, sample.source);
  }
}

// Reads everything from a file, and writes it with good and with bad translations.
void use(const std::string& bytes, Format format) {
  const Document document = Document::parse(bytes, format, "file");
  std::vector<Segment> translations = upper_case(document.segments());
  for (std::size_t i = 0; i < translations.size(); ++i) EXPECT_FALSE(document.where(i).empty());
  document.write(translations);
  for (Segment& translation : translations) {
    if (!translation.codes.empty()) translation.codes.pop_back();
    for (InlineCode& code : translation.codes) code.position = translation.text.size();
    translation.cuts.clear();
  }
  document.write(translations);
  EXPECT_EQ(document.write(std::vector<Segment>(translations.size())).bytes, bytes);
}

TEST(Document, IsReadOrRefusedIfAByteIsDamaged) {
  for (const Sample& sample : samples()) {
    const DamageReport report =
        read_damaged(sample.source, [&](const std::string& damaged) { use(damaged, sample.format); });
    EXPECT_GT(report.read, 0u) << name_of(kDocumentFormats, sample.format);
  }
}

TEST(Document, IsReadOrRefusedIfItsPartsAreMixed) {
  constexpr int kMutants = 300;
  for (const Sample& sample : samples()) {
    std::mt19937 random(1);
    for (int i = 0; i < kMutants; ++i) {
      std::string mutant = sample.source;
      for (int edits = 0; edits < 3; ++edits) {
        const std::size_t position = random() % (mutant.size() + 1), from = random() % (mutant.size() + 1);
        const std::string moved = mutant.substr(from, random() % 40);
        if (random() % 2 == 0) mutant.erase(from, moved.size());
        mutant.insert(std::min(position, mutant.size()), moved);
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
  EXPECT_EQ(format_of("a.po/x"), std::nullopt);
  EXPECT_EQ(format_of("x.docx"), std::nullopt);
  EXPECT_EQ(media_type_of("x.docx"), "application/octet-stream");
  EXPECT_EQ(media_type_of("x.XHTML"), "application/xhtml+xml");
  for (const std::string& extension : document_extensions()) EXPECT_NE(format_of("x" + extension), std::nullopt);
}

TEST(Document, SaysWhereASegmentIsAndNeedsATranslationForEach) {
  const Document document = Document::parse("a\n\nb\nc", Format::text, "file");
  EXPECT_EQ(document.where(1), "line 3");
  EXPECT_EQ(message_of<InputError>([&] { document.write({}); }), "0 translations, expected 2, one for each segment");
}

TEST(Document, IsNotWrittenIfItsXmlWouldBreak) {
  const documents::TextFile file({.bytes = "<a>b</a>", .name = "file"}, documents::xml_syntax(documents::Spaces::keep));
  const std::vector<documents::Edit> edits = {{.range = {3, 4}, .parts = {{.text = "<b>"}}}};
  EXPECT_EQ(refusal_of("file", [&] { file.with(edits); }),
            "file: its translation: line 1, column 9: mismatched tag, expected well-formed XML");
}

TEST(Document, IsCancelledWhileItIsReadAndWritten) {
  struct Stopped : std::runtime_error {
    Stopped() : std::runtime_error("stopped") {}
  };
  const std::function<void()> stop = [] { throw Stopped(); };
  const auto many = [](const std::string& each) { return times(each, 5000); };
  const std::string xliff = "<xliff version=\"1.2\"><file><body>", end = "</body></file></xliff>";
  const std::vector<std::pair<Format, std::string>> files = {
      {Format::text, many("a\n\n")},
      {Format::html, many("<p>a</p>")},
      {Format::html, "a" + many("<b>b</b>")},
      {Format::srt, many("1\n00:00:01,000 --> 00:00:02,000\na.\n\n")},
      {Format::vtt, "WEBVTT\n\n" + many("00:01.000 --> 00:02.000\na.\n\n")},
      {Format::po, many("msgid \"a\"\nmsgstr \"\"\n\n")},
      {Format::xliff, xliff + many("<trans-unit><source>a</source></trans-unit>") + end},
      {Format::xliff, xliff + "<trans-unit><source>a" + many("<x/>") + "b</source></trans-unit>" + end}};
  for (const auto& [format, bytes] : files) {
    SCOPED_TRACE(bytes.substr(0, 70));
    const Document document = Document::parse(bytes, format, "file");
    const std::vector<Segment> translations = upper_case(document.segments());
    const DocumentOptions counted{.on_memory = [](std::size_t /*bytes*/) { throw Stopped(); }};
    EXPECT_THROW(Document::parse(bytes, format, "file", counted), Stopped);
    const CancellationScope scope(stop);
    EXPECT_THROW(Document::parse(bytes, format, "file"), Stopped);
    EXPECT_THROW(static_cast<void>(document.write(translations)), Stopped);
  }
}

TEST(Document, RefusesOtherEncodingsAndFormats) {
  const std::tuple<Format, std::string, std::string> files[] = {
      {Format::srt, "a\n\xe4", "line 2, column 1: byte 2 is 0xe4, expected UTF-8"},
      {Format::text, std::string("\xff\xfe\0", 3), "line 1, column 1: UTF-16, expected UTF-8"},
      {Format::po, "\xfe\xff", "line 1, column 1: UTF-16, expected UTF-8"},
      {Format::po, "msgid \"\"\nmsgstr \"charset=latin1\\n\"\n", "line 2, column 1: charset 'latin1', expected UTF-8"},
      {Format::xliff, "<?xml version=\"1.0\" encoding=\"latin1\"?><xliff/>",
       "line 1, column 1: encoding is not UTF-8, expected UTF-8"},
      {Format::html, "<meta charset=iso-8859-1><p>\u00e9",
       "charset 'iso-8859-1' declared for bytes in UTF-8, expected utf-8"},
      {Format::html, "<meta charset=x-a><p>a",
       "charset 'x-a' cannot be decoded and encoded losslessly, expected utf-8"},
      {Format::html, "<meta charset=euc-jp>\xff",
       "charset 'euc-jp' cannot be decoded and encoded losslessly, expected utf-8"},
      {Format::html, "<p>a\n\xe9", "line 2, column 1: byte 5 is 0xe9, expected UTF-8"},
      {Format::html, "\xff\xfe<", "line 1, column 1: UTF-16, expected UTF-8"},
      {Format::html, "<p>a\n" + times("<div>", 300), "line 2: an element inside 256 others, expected fewer"},
      {Format::srt, "a", "line 1, column 1: no times, expected 00:00:01,000 --> 00:00:02,000"},
      {Format::vtt, "a", "line 1, column 1: no WEBVTT in the first line, expected it"},
      {Format::po, "# a\nb", "line 2, column 1: 'b', expected a comment, msgctxt or msgid"},
      {Format::po, "msgid \"a\nmsgstr \"\"", "line 1, column 9: end of the line, expected a quote"},
      {Format::xliff, "<a/>", "line 1, column 1: no element xliff, expected one"},
      {Format::xliff, "<a>", "line 1, column 4: no element found, expected well-formed XML"},
      {Format::xliff, "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>",
       "line 1, column 25: declaration of an entity, expected none"},
      {Format::xliff, times("<a>", 300), "line 1, column 769: element inside 256 others, expected fewer"},
  };
  for (const auto& [format, bytes, error] : files) {
    EXPECT_EQ(refusal_of("file", [&] { Document::parse(bytes, format, "file"); }), "file: " + error);
  }
}

// Returns "a <b>c</b> <i>d</i>" as HTML after `change` to its translation, and why that was not
// used.
WrittenDocument changed_html(const std::function<void(Segment&)>& change) {
  const Document document = Document::parse("<p>a <b>c</b> <i>d</i>", Format::html, "file");
  Segment translation = document.segments().at(0);
  change(translation);
  return document.write(std::vector{translation});
}

TEST(Document, AddsMissingCodesAtTheEndAndDropsThoseOfNoSource) {
  EXPECT_EQ(changed_html([](Segment& t) { t = {.text = "x"}; }).bytes, "<p>x<b></b><i></i>");
  EXPECT_EQ(changed_html([](Segment& t) { t.codes.erase(t.codes.begin()); }).bytes, "<p>a c <i>d</i><b></b>");
  const InlineCode other{.position = 0, .markup = "<x>"};
  EXPECT_EQ(changed_html([&](Segment& t) { t.codes.insert(t.codes.begin(), other); }).bytes, "<p>a <b>c</b> <i>d</i>");
}

TEST(Document, DoesNotUseATranslationWithPlacesOutsideOfItOrWithoutItsPlaceholders) {
  const WrittenDocument outside = changed_html([](Segment& t) { t.text = "x"; });
  EXPECT_EQ(outside.bytes, "<p>a <b>c</b> <i>d</i>");
  EXPECT_EQ(outside.unused.at(0).reason, "positions of codes, placeholders or cuts are unsorted or outside the text");
  const WrittenDocument lost = with_first_text("see http://a.b", Format::text, "siehe dort");
  EXPECT_EQ(lost.bytes, "see http://a.b");
  EXPECT_EQ(lost.unused.at(0).reason, "placeholder 'http://a.b' is missing");
}

TEST(Document, DoesNotUseATranslationThatWouldBreakXml) {
  const Document document = Document::parse(
      "<xliff><trans-unit><source><g>a</g> <mrk>b</mrk> c</source></trans-unit></xliff>", Format::xliff, "file");
  Segment translation = document.segments().at(0);
  translation.text = "x y z";
  translation.codes = {translation.codes[0], translation.codes[2], translation.codes[1], translation.codes[3]};
  for (std::size_t i = 0; i < 4; ++i) translation.codes[i].position = i;
  EXPECT_EQ(document.write(std::vector{translation}).unused.at(0).reason, "the codes are not nested as in the source");
}

}  // namespace
}  // namespace encdec
