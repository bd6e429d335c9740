// Tests formats with markup: XLIFF and HTML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/message_of.h"
#include "tools/translation/tests/documents/upper_case.h"

namespace encdec {
namespace {

using Format = DocumentFormat;
using testing::ElementsAre;
using testing::HasSubstr;

std::string xliff(const std::string& units) {
  return "<xliff version='1.2'><file><body>" + units + "</body></file></xliff>";
}

std::string unit(const std::string& source, const std::string& rest = "") {
  return xliff("<trans-unit><source>" + source + "</source>" + rest + "</trans-unit>");
}

std::string xliff_2(const std::string& units) {
  return "<xliff version='2.0'><file>" + units + "</file></xliff>";
}

std::string upper_xliff(const std::string& file, const DocumentOptions& options = {}) {
  return in_upper_case(file, Format::xliff, options);
}

std::string upper_page(const std::string& page, const DocumentOptions& options = {}) {
  return in_upper_case(page, Format::html, options);
}

TEST(Xliff, HasTextsOfUnitsWithoutTranslation) {
  const std::string file = xliff(
      "<trans-unit><source>a</source><target/></trans-unit>"
      "<trans-unit><source>b</source><target>B</target></trans-unit>"
      "<trans-unit><source>c</source><target state='needs-translation'>C</target></trans-unit>"
      "<trans-unit approved='yes'><source>d</source></trans-unit>"
      "<trans-unit><source>e</source><alt-trans><target>x</target></alt-trans></trans-unit>"
      "<trans-unit><source>f</source><target state='final'>F</target></trans-unit>");
  EXPECT_THAT(texts_of(file, Format::xliff), ElementsAre("a", "e"));
  EXPECT_THAT(texts_of(file, Format::xliff, {.entries = CatalogueEntries::fuzzy}), ElementsAre("a", "b", "c", "e"));
  EXPECT_THAT(texts_of(file, Format::xliff, {.entries = CatalogueEntries::all}), ElementsAre("a", "b", "c", "e", "f"));
}

TEST(Xliff, SetsStateAndLanguageOfATarget) {
  const std::string begin = "<xliff version='1.2'><file source-language='en'",
                    source = "><trans-unit><source> a </source>", end = "</target></trans-unit></file></xliff>";
  EXPECT_EQ(upper_xliff(begin + source + "<target xml:lang='de' state='new'>" + end, {.target_language = "de"}),
            begin + " target-language=\"de\"" + source +
                "<target xml:lang='de' state=\"needs-review-translation\"> A " + end);
  EXPECT_THAT(upper_xliff(unit("a"), {.xliff_state = "b\"c"}), HasSubstr("<target state=\"b&quot;c\">A</target>"));
  EXPECT_EQ(upper_xliff(unit("a", "<target state='new' id='1'>x</target>"), {.entries = CatalogueEntries::all}),
            unit("a", "<target state=\"needs-review-translation\" id='1'>A</target>"));
  EXPECT_EQ(upper_xliff(unit("a", "\n<target  />\n")),
            unit("a", "\n<target state=\"needs-review-translation\">A</target>\n"));
  // Version 2 has its state in the segment.
  const std::string text = "><source>a <pc id='1'>b</pc><ph id='2'/> c</source>",
                    ignored = "</segment><ignorable><source>d</source></ignorable></unit></file></xliff>";
  EXPECT_EQ(upper_xliff("<xliff version='2.1' srcLang='en'><file><unit><segment state='initial'" + text + ignored,
                        {.target_language = "de"}),
            "<xliff version='2.1' srcLang='en' trgLang=\"de\"><file><unit><segment state=\"translated\"" + text +
                "<target>A <pc id='1'>B</pc><ph id='2'/> C</target>" + ignored);
}

TEST(Xliff, KeepsCodesAndProtectedText) {
  const std::string tags = "&lt;b>a&lt;/b>&lt;br/>b &amp;amp; c";
  EXPECT_THAT(texts_of(unit(tags), Format::xliff), ElementsAre("a\nb &amp; c"));
  EXPECT_THAT(upper_xliff(unit(tags)), HasSubstr(">&lt;b&gt;A&lt;/b&gt;&lt;br/&gt;B &amp;amp; C</target>"));
  const std::string begin = "<bpt id='1'>&lt;b></bpt>", end = "<ept id='1'>&lt;/b></ept>",
                    acme = "<mrk mtype='protected'>Acme</mrk>",
                    message = "<mrk mtype='protected'>{n, plural, other {b}}</mrk>";
  EXPECT_THAT(upper_xliff(unit("a " + begin + "b" + end + " " + acme + " " + message + " c")),
              HasSubstr("A " + begin + "B" + end + " " + acme + " " + message + " C</target>"));
}

TEST(Xliff, TranslatesAnInnerYesInAnOuterNo) {
  EXPECT_THAT(texts_of(xliff("<group translate='no'><trans-unit translate='yes'><source>a</source></trans-unit>"
                             "<trans-unit><source>b</source></trans-unit><group translate='yes'><trans-unit><source>c"
                             "</source></trans-unit></group></group><trans-unit><source>d</source></trans-unit>"),
                       Format::xliff),
              ElementsAre("a", "c", "d"));
  const std::string version_2 =
      "<xliff version='2.0'><file translate='no'><unit><segment><source>a</source></segment></unit><unit translate="
      "'yes'><segment><source>b</source></segment><segment><source>c <mrk translate='no'>d <mrk translate='yes'>e"
      "</mrk> f</mrk></source></segment></unit><unit><segment><source>g <mrk translate='yes'>h</mrk></source></segment>"
      "</unit></file></xliff>";
  EXPECT_THAT(texts_of(version_2, Format::xliff), ElementsAre("b", "c d e f", "g h"));
  EXPECT_THAT(upper_xliff(version_2),
              testing::AllOf(HasSubstr("<target>C <mrk translate='no'>d <mrk translate='yes'>E</mrk> f</mrk></target>"),
                             HasSubstr("<target>g <mrk translate='yes'>H</mrk></target>")));
}

TEST(Xliff, KeepsTextBetweenMarks) {
  const std::string sm = "<sm id='1' translate='no'/>", em = "<em startRef='1'/>",
                    end = "</source></segment></unit><unit><segment><source>z</source></segment></unit>";
  const std::pair<std::string, std::string> rows[] = {
      {"a " + sm + "b <ph/>c" + em + " d", "<target>A " + sm + "b <ph/>c" + em + " D</target>"},
      {"a " + sm + "b</source></segment><segment><source>c" + em + " d", "<target>A " + sm + "b</target>"},
      {"a " + sm + "b</source></segment><segment><source>c" + em + " d", "<target>c" + em + " D</target>"},
      {"a <pc>" + sm + "b</pc> c" + em + " d", "<target>A <pc>" + sm + "b</pc> c" + em + " D</target>"},
      {"a " + sm + "b", "<target>Z</target>"},  // ends with its unit
      {sm + "b" + em, sm + "b" + em + "</source></segment>"},
  };
  for (const auto& [segments, found] : rows) {
    EXPECT_THAT(upper_xliff(xliff_2("<unit><segment><source>" + segments + end)), HasSubstr(found));
  }
}

TEST(Xliff, LeavesMessagesOfIcu) {
  const std::string message = "{VAR_PLURAL, plural, =1 {one minute} other {<x id='I'/> minutes}}";
  for (const std::string& source : {message, "a " + message, std::string("{n, select, a {b {m}} other {c}}"),
                                    " {n,PLURAL, other {" + std::string(300, 'a') + "\n}} "}) {
    EXPECT_THAT(texts_of(unit(source), Format::xliff), ElementsAre()) << source;
  }
  EXPECT_THAT(upper_xliff(unit("a {n, plural, other {# b {c}}} d {e}")),
              HasSubstr(">A {n, plural, other {# b {c}}} D {e}</target>"));
}

TEST(Xliff, WritesThePartsOfSegmentedSources) {
  const std::string parts =
      "<seg-source><mrk mtype='seg' mid='0'>a.</mrk> <mrk mtype='seg' mid='1'>b.</mrk></seg-source>";
  EXPECT_EQ(upper_xliff(unit("a. b.", parts)),
            unit("a. b.", parts + "<target state=\"needs-review-translation\"><mrk mtype='seg' mid='0'>A.</mrk> "
                                  "<mrk mtype='seg' mid='1'>B.</mrk></target>"));
}

TEST(XmlText, HasCodesAndKeepsSomeElements) {
  const std::vector<std::string> kept = {"x", "k:y"};
  const std::string text = " a &lt; <b>c</b> <x id='1'>d</x><k:y>e</k:y> <!-- f --><g/>h\n";
  const Document document = Document::parse_xml_text(text, kept, "text");
  ASSERT_EQ(document.segments().size(), 1u);
  EXPECT_EQ(document.segments()[0].placeholders.size(), 2u);
  EXPECT_EQ(document.write(document.segments()).bytes, text);
  EXPECT_EQ(document.write(upper_case(document.segments())).bytes,
            " A &lt; <b>C</b> <x id='1'>d</x><k:y>e</k:y> <!-- f --><g/>H\n");
  EXPECT_TRUE(Document::parse_xml_text("<x/> 5", kept, "text").segments().empty());
  for (const char* refused : {"<a>", "</x>", "a</x><x>b", "<!DOCTYPE a>", "a & b", "\xff"}) {
    EXPECT_THROW(Document::parse_xml_text(refused, kept, "text"), FileError) << refused;
  }
}

TEST(Html, HasCodesEntitiesAndTheTargetLanguage) {
  const Document document = Document::parse("<p><b><a href=x>Hi</a></b> <img src=a></p>", Format::html, "file");
  EXPECT_EQ(document.segments().at(0), (Segment{.text = "Hi"}));  // without codes at the ends of a block
  EXPECT_EQ(upper_page("<p>a&own; &amp; b;</p>"), "<p>A&own; &amp; B;</p>");
  EXPECT_EQ(upper_page("<!-- <html lang=x> --><html\n\tLANG = en data-lang='en'><p>a", {.target_language = "de"}),
            "<!-- <html lang=x> --><html\n\tLANG = de data-lang='en'><p>A");
  EXPECT_EQ(upper_page("<?xml version='1.0'?>\n<html a='>'\n  lang='en'\txml:lang=\"en\"><p>a</p></html>",
                       {.target_language = "de"}),
            "<?xml version='1.0'?>\n<html a='>'\n  lang='de'\txml:lang=\"de\"><p>A</p></html>");
}

TEST(Xhtml, IsReadAsXml) {
  EXPECT_EQ(upper_page("<?xml version='1.0'?><!DOCTYPE html [<!ENTITY own 'x'>]>\n<html><title>a</title>"
                       "<p translate='no'/><p>b <![CDATA[<i> &]]> <i>c<b/></i> &own;&nbsp;&lt;d&gt;</p>"
                       "<script><![CDATA[<p>e]]></script><svg><text translate='yes'>f</text></svg>g</html>"),
            "<?xml version='1.0'?><!DOCTYPE html [<!ENTITY own 'x'>]>\n<html><title>A</title>"
            "<p translate='no'/><p>B &lt;I&gt; &amp; <i>C<b/></i> &own;\u00a0&lt;D&gt;</p>"
            "<script><![CDATA[<p>e]]></script><svg><text translate='yes'>F</text></svg>G</html>");
  // A malformed XHTML page is read as HTML, unless it has the extension.
  EXPECT_EQ(upper_page("<?xml version='1.0'?><p>a<br>b"), "<?xml version='1.0'?><p>A<br>B");
  EXPECT_EQ(message_of([&] { Document::parse("<p>a\n<br>b</p>", Format::html, "a.xhtml"); }),
            "a.xhtml: line 2, column 8: mismatched tag, expected well-formed XML");
}

TEST(Xhtml, TagsWithoutTheOtherTagStayOutsidePairs) {
  const std::string page = "<?xml version='1.0'?><p><i>a</i> b <b>c<code>d</code></b></p>";
  const Document document = Document::parse(page, Format::html, "file");
  std::vector<Segment> moved = document.segments();
  ASSERT_EQ(moved.at(0).codes.size(), 3u);
  std::swap(moved[0].codes[1], moved[0].codes[2]);
  for (InlineCode& code : moved[0].codes) code.position = 0;
  const WrittenDocument written = document.write(moved);
  EXPECT_EQ(written.bytes, page);
  EXPECT_EQ(written.unused.at(0).reason, "the codes are not nested as in the source");
}

TEST(Html, IsWrittenInTheCharsetThatItDeclares) {
  const std::string shift_jis = "<META http-equiv='content-type' content='text/html; charset=Shift_JIS'><p>",
                    windows = "<?xml version='1.0' encoding='windows-1252'?><p>", utf_8 = "\u00fc\u201c\u65e5";
  const std::pair<std::string, std::string> pages[] = {
      {"<meta charset=iso-8859-1><p>a<p>\xe9", "<meta charset=iso-8859-1><p>\xfc&#8220;&#26085;<p>\xe9"},
      {"<meta charset=iso-8859-1><p>a<p>\x93", "<meta charset=iso-8859-1><p>\xfc\x93&#26085;<p>\x93"},
      {shift_jis + "\x93\xfa", shift_jis + "&#252;\x81\x67\x93\xfa"},
      {windows + "\xe9</p>", windows + "\xfc\x93&#26085;</p>"},
      {"\ufeff<meta charset=iso-8859-1><p>a\u00e9", "\ufeff<meta charset=iso-8859-1><p>" + utf_8},
      {"<!-- <meta charset=koi8-r> --><p>\u00e9", "<!-- <meta charset=koi8-r> --><p>" + utf_8},
      {"<meta charset=UTF-8><p>\u00e9", "<meta charset=UTF-8><p>" + utf_8},
  };
  for (const auto& [page, written] : pages) {
    EXPECT_EQ(with_first_text(page, Format::html, utf_8).bytes, written);
    EXPECT_EQ(upper_page(page).size(), page.size()) << page;
  }
}

}  // namespace
}  // namespace encdec
