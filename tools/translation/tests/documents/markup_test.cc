// Formats with markup: XLIFF and HTML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/translation/tests/documents/upper_case.h"

namespace encdec {
namespace {

using Format = DocumentFormat;
using testing::ElementsAre;
using testing::HasSubstr;

std::string xliff(const std::string& unit) {
  return "<xliff version=\"1.2\"><file source-language=\"en\"><body>" + unit + "</body></file></xliff>";
}

TEST(Xliff, HasTextsOfUnitsWithoutTranslation) {
  const std::string file = xliff(
      "<trans-unit id=\"1\"><source>a</source><target/></trans-unit>"
      "<trans-unit id=\"2\"><source>b</source><target>B</target></trans-unit>"
      "<trans-unit id=\"3\"><source>c</source><target state=\"needs-translation\">C</target></trans-unit>"
      "<trans-unit id=\"4\" approved=\"yes\"><source>d</source></trans-unit>"
      "<trans-unit id=\"5\"><source>e</source><alt-trans><target>x</target></alt-trans></trans-unit>"
      "<trans-unit id=\"6\"><source>f</source><target state=\"final\">F</target></trans-unit>");
  EXPECT_THAT(texts_of(file, Format::xliff), ElementsAre("a", "e"));
  EXPECT_THAT(texts_of(file, Format::xliff, {.entries = CatalogueEntries::fuzzy}), ElementsAre("a", "b", "c", "e"));
  EXPECT_THAT(texts_of(file, Format::xliff, {.entries = CatalogueEntries::all}), ElementsAre("a", "b", "c", "e", "f"));
}

TEST(Xliff, SetsStateAndLanguageOfATarget) {
  EXPECT_EQ(in_upper_case(xliff("<trans-unit><source> a </source><target xml:lang='de' state='new'/></trans-unit>"),
                          Format::xliff, {.target_language = "de"}),
            "<xliff version=\"1.2\"><file source-language=\"en\" target-language=\"de\"><body><trans-unit>"
            "<source> a </source><target xml:lang='de' state=\"needs-review-translation\"> A </target></trans-unit>"
            "</body></file></xliff>");
}

TEST(Xliff, EscapesAttributes) {
  EXPECT_THAT(
      in_upper_case(xliff("<trans-unit><source>a</source></trans-unit>"), Format::xliff, {.xliff_state = "b\"c"}),
      HasSubstr("<target state=\"b&quot;c\">A</target>"));
}

TEST(Xliff, SetsTheStateOfATargetWithText) {
  EXPECT_EQ(in_upper_case(xliff("<trans-unit><source>a</source><target state=\"new\" id='1'>x</target></trans-unit>"),
                          Format::xliff, {.entries = CatalogueEntries::all}),
            xliff("<trans-unit><source>a</source><target state=\"needs-review-translation\" id='1'>A</target>"
                  "</trans-unit>"));
  EXPECT_EQ(in_upper_case(xliff("<trans-unit><source>a</source>\n<target  />\n</trans-unit>"), Format::xliff),
            xliff("<trans-unit><source>a</source>\n<target state=\"needs-review-translation\">A</target>\n"
                  "</trans-unit>"));
}

TEST(Xliff, Version2HasItsStateInTheSegment) {
  EXPECT_EQ(in_upper_case("<xliff version=\"2.1\" srcLang=\"en\"><file><unit><segment state=\"initial\"><source>a <pc "
                          "id=\"1\">b</pc><ph id=\"2\"/> c</source></segment><ignorable><source>d</source></ignorable>"
                          "</unit></file></xliff>",
                          Format::xliff, {.target_language = "de"}),
            "<xliff version=\"2.1\" srcLang=\"en\" trgLang=\"de\"><file><unit><segment state=\"translated\"><source>a "
            "<pc id=\"1\">b</pc><ph id=\"2\"/> c</source><target>A <pc id=\"1\">B</pc><ph id=\"2\"/> C</target>"
            "</segment><ignorable><source>d</source></ignorable></unit></file></xliff>");
}

TEST(Xliff, HasCodesForTagsInText) {
  const std::string source = "&lt;b>a&lt;/b>&lt;br/>b &amp;amp; c";
  const std::string file = xliff("<trans-unit><source>" + source + "</source></trans-unit>");
  EXPECT_THAT(texts_of(file, Format::xliff), ElementsAre("a\nb &amp; c"));
  EXPECT_THAT(in_upper_case(file, Format::xliff), HasSubstr(">&lt;b&gt;A&lt;/b&gt;&lt;br/&gt;B &amp;amp; C</target>"));
}

TEST(Xliff, KeepsNativeCodesAndProtectedText) {
  const std::string unit =
      "<source>a <bpt id=\"1\">&lt;b></bpt>b<ept id=\"1\">&lt;/b></ept> <mrk mtype=\"protected\">Acme</mrk> c</source>";
  EXPECT_THAT(
      in_upper_case(xliff("<trans-unit>" + unit + "</trans-unit>"), Format::xliff),
      HasSubstr(
          "A <bpt id=\"1\">&lt;b></bpt>B<ept id=\"1\">&lt;/b></ept> <mrk mtype=\"protected\">Acme</mrk> C</target>"));
}

TEST(Xliff, TranslatesAnInnerYesInAnOuterNo) {
  EXPECT_THAT(texts_of(xliff("<group translate=\"no\"><trans-unit translate=\"yes\"><source>a</source></trans-unit>"
                             "<trans-unit><source>b</source></trans-unit><group translate=\"yes\"><trans-unit><source>c"
                             "</source></trans-unit></group></group><trans-unit><source>d</source></trans-unit>"),
                       Format::xliff),
              ElementsAre("a", "c", "d"));
  const std::string version_2 =
      "<xliff version=\"2.0\"><file translate=\"no\"><unit><segment><source>a</source></segment></unit><unit translate="
      "\"yes\"><segment><source>b</source></segment><segment><source>c <mrk translate=\"no\">d <mrk translate=\"yes\">e"
      "</mrk> f</mrk></source></segment></unit><unit><segment><source>g <mrk "
      "translate=\"yes\">h</mrk></source></segment>"
      "</unit></file></xliff>";
  EXPECT_THAT(texts_of(version_2, Format::xliff), ElementsAre("b", "c d e f", "g h"));
  const std::string upper = in_upper_case(version_2, Format::xliff);
  EXPECT_THAT(upper, HasSubstr("<target>C <mrk translate=\"no\">d <mrk translate=\"yes\">E</mrk> f</mrk></target>"));
  EXPECT_THAT(upper, HasSubstr("<target>g <mrk translate=\"yes\">H</mrk></target>"));
}

TEST(Xliff, KeepsTextBetweenMarks) {
  const auto target = [](const std::string& segments) {
    return in_upper_case(
        "<xliff version=\"2.0\"><file><unit><segment><source>" + segments +
            "</source></segment></unit><unit><segment><source>z</source></segment></unit></file></xliff>",
        Format::xliff);
  };
  const std::string sm = "<sm id=\"1\" translate=\"no\"/>", em = "<em startRef=\"1\"/>";
  EXPECT_THAT(target("a " + sm + "b <ph/>c" + em + " d"),
              HasSubstr("<target>A " + sm + "b <ph/>c" + em + " D</target>"));
  EXPECT_THAT(target("a " + sm + "b</source></segment><segment><source>c" + em + " d"),
              testing::AllOf(HasSubstr("<target>A " + sm + "b</target>"), HasSubstr("<target>c" + em + " D</target>")));
  EXPECT_THAT(target("a <pc>" + sm + "b</pc> c" + em + " d"),
              HasSubstr("<target>A <pc>" + sm + "b</pc> c" + em + " D</target>"));
  EXPECT_THAT(target("a " + sm + "b"), HasSubstr("<target>Z</target>"));  // ends with its unit
  EXPECT_THAT(target(sm + "b" + em), testing::Not(HasSubstr("<target>B")));
}

TEST(Xliff, LeavesMessagesOfIcu) {
  const std::string message = "{VAR_PLURAL, plural, =1 {one minute} other {<x id=\"I\"/> minutes}}";
  for (const std::string& source : {message, "a " + message, std::string("{n, select, a {b {m}} other {c}}"),
                                    " {n,PLURAL, other {" + std::string(300, 'a') + "\n}} "}) {
    EXPECT_THAT(texts_of(xliff("<trans-unit><source>" + source + "</source></trans-unit>"), Format::xliff),
                ElementsAre())
        << source;
  }
  EXPECT_THAT(in_upper_case(xliff("<trans-unit><source>a {n, plural, other {# b {c}}} d {e}</source></trans-unit>"),
                            Format::xliff),
              HasSubstr(">A {n, plural, other {# b {c}}} D {e}</target>"));
  const std::string protected_message = "<mrk mtype=\"protected\">{n, plural, other {b}}</mrk>";
  EXPECT_THAT(
      in_upper_case(xliff("<trans-unit><source>a " + protected_message + " c</source></trans-unit>"), Format::xliff),
      HasSubstr(">A " + protected_message + " C</target>"));
}

TEST(Xliff, WritesThePartsOfSegmentedSources) {
  EXPECT_THAT(in_upper_case(xliff("<trans-unit><source>a. b.</source><seg-source><mrk mtype=\"seg\" mid=\"0\">a.</mrk> "
                                  "<mrk mtype=\"seg\" mid=\"1\">b.</mrk></seg-source></trans-unit>"),
                            Format::xliff),
              HasSubstr("</seg-source><target state=\"needs-review-translation\"><mrk mtype=\"seg\" mid=\"0\">A.</mrk> "
                        "<mrk mtype=\"seg\" mid=\"1\">B.</mrk></target>"));
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

TEST(Html, LeavesOutCodesAtTheEndsOfABlock) {
  const Document document = Document::parse("<p><b><a href=x>Hi</a></b> <img src=a></p>", Format::html, "file");
  EXPECT_EQ(document.segments().at(0), (Segment{.text = "Hi"}));
}

TEST(Html, KeepsUnknownEntities) {
  EXPECT_EQ(in_upper_case("<p>a&own; &amp; b;</p>", Format::html), "<p>A&own; &amp; B;</p>");
}

TEST(Html, GetsTheTargetLanguage) {
  EXPECT_EQ(in_upper_case("<html class=a lang=\"en\"><p>a", Format::html, {.target_language = "de"}),
            "<html class=a lang=\"de\"><p>A");
}

TEST(Html, LanguageMayStandAnywhereInItsTag) {
  const DocumentOptions options = {.target_language = "de"};
  EXPECT_EQ(in_upper_case("<!-- <html lang=x> --><html\n\tLANG = en data-lang='en'><p>a", Format::html, options),
            "<!-- <html lang=x> --><html\n\tLANG = de data-lang='en'><p>A");
  const std::string page = "<?xml version='1.0'?>\n<html a='>'\n  lang='en'\txml:lang=\"en\"><p>a</p></html>";
  EXPECT_EQ(in_upper_case(page, Format::html, options),
            "<?xml version='1.0'?>\n<html a='>'\n  lang='de'\txml:lang=\"de\"><p>A</p></html>");
}

TEST(Xhtml, IsReadAsXml) {
  EXPECT_EQ(in_upper_case("<?xml version='1.0'?><!DOCTYPE html [<!ENTITY own 'x'>]>\n<html><title>a</title>"
                          "<p translate='no'/><p>b <![CDATA[<i> &]]> <i>c<b/></i> &own;&nbsp;&lt;d&gt;</p>"
                          "<script><![CDATA[<p>e]]></script><svg><text translate='yes'>f</text></svg>g</html>",
                          Format::html),
            "<?xml version='1.0'?><!DOCTYPE html [<!ENTITY own 'x'>]>\n<html><title>A</title>"
            "<p translate='no'/><p>B &lt;I&gt; &amp; <i>C<b/></i> &own;\u00a0&lt;D&gt;</p>"
            "<script><![CDATA[<p>e]]></script><svg><text translate='yes'>F</text></svg>G</html>");
  // Without the extension, a page that is not XML is HTML.
  EXPECT_EQ(in_upper_case("<?xml version='1.0'?><p>a<br>b", Format::html), "<?xml version='1.0'?><p>A<br>B");
  try {
    Document::parse("<p>a\n<br>b</p>", Format::html, "a.xhtml");
    FAIL();
  } catch (const FileError& error) {
    EXPECT_STREQ(error.what(), "a.xhtml: line 2, column 8: mismatched tag, expected well-formed XML");
  }
}

TEST(Xhtml, TagsWithoutTheOtherTagStayOutsidePairs) {
  const std::string page = "<?xml version='1.0'?><p><i>a</i> b <b>c<code>d</code></b></p>";
  const Document document = Document::parse(page, Format::html, "file");
  std::vector<Segment> moved = document.segments();
  ASSERT_EQ(moved.at(0).codes.size(), 3u);
  std::swap(moved[0].codes[1], moved[0].codes[2]);
  for (InlineCode& code : moved[0].codes) code.place = 0;
  const WrittenDocument written = document.write(moved);
  EXPECT_EQ(written.bytes, page);
  EXPECT_EQ(written.unused.at(0).reason, "the codes are not nested as in the source");
}

TEST(Html, IsWrittenInTheCharsetThatItDeclares) {
  const auto translated = [](const std::string& page) {
    return with_first_text(page, Format::html, "\u00fc\u201c\u65e5").bytes;
  };
  const std::pair<std::string, std::string> pages[] = {
      {"<meta charset=iso-8859-1><p>a<p>\xe9", "<meta charset=iso-8859-1><p>\xfc&#8220;&#26085;<p>\xe9"},
      {"<meta charset=iso-8859-1><p>a<p>\x93", "<meta charset=iso-8859-1><p>\xfc\x93&#26085;<p>\x93"},
      {"<META http-equiv='content-type' content='text/html; charset=Shift_JIS'><p>\x93\xfa",
       "<META http-equiv='content-type' content='text/html; charset=Shift_JIS'><p>&#252;\x81\x67\x93\xfa"},
      {"<?xml version='1.0' encoding='windows-1252'?><p>\xe9</p>",
       "<?xml version='1.0' encoding='windows-1252'?><p>\xfc\x93&#26085;</p>"},
      {"\ufeff<meta charset=iso-8859-1><p>a\u00e9", "\ufeff<meta charset=iso-8859-1><p>\u00fc\u201c\u65e5"},
      {"<!-- <meta charset=koi8-r> --><p>\u00e9", "<!-- <meta charset=koi8-r> --><p>\u00fc\u201c\u65e5"},
      {"<meta charset=UTF-8><p>\u00e9", "<meta charset=UTF-8><p>\u00fc\u201c\u65e5"},
  };
  for (const auto& [page, written] : pages) {
    EXPECT_EQ(translated(page), written);
    EXPECT_EQ(in_upper_case(page, Format::html).size(), page.size()) << page;
  }
  const std::pair<std::string, std::string> refused[] = {
      {"<meta charset=iso-8859-1><p>\u00e9", "file: charset 'iso-8859-1' of bytes in UTF-8, expected utf-8"},
      {"<meta charset=x-a><p>a", "file: charset 'x-a' that cannot be read and written again, expected utf-8"},
      {"<meta charset=euc-jp><p>\xff", "file: charset 'euc-jp' that cannot be read and written again, expected utf-8"},
      {"<p>a\n\xe9", "file: line 2, column 1: byte 5 is 0xe9, expected UTF-8"},
      {"\xff\xfe<", "file: line 1, column 1: UTF-16, expected UTF-8"},
  };
  for (const auto& [page, error] : refused) {
    try {
      Document::parse(page, Format::html, "file");
      ADD_FAILURE() << error;
    } catch (const FileError& refusal) {
      EXPECT_EQ(refusal.what(), error);
    }
  }
}

TEST(Html, LimitsOfThePageNameTheFile) {
  std::string page = "<p>a\n";
  for (int i = 0; i < 300; ++i) page += "<div>";
  try {
    Document::parse(page, Format::html, "file");
    FAIL();
  } catch (const FileError& error) {
    EXPECT_STREQ(error.what(), "file: line 2: an element inside 256 others, expected fewer");
  }
}

}  // namespace
}  // namespace encdec
