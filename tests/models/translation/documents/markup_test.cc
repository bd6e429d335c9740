// Formats with markup: XLIFF and HTML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/translation/documents/upper_case.h"

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

}  // namespace
}  // namespace encdec
