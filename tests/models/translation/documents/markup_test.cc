// Formats with markup: XLIFF, Android's strings, HTML, Markdown; and Java's properties.
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

TEST(Xliff, WritesThePartsOfSegmentedSources) {
  EXPECT_THAT(in_upper_case(xliff("<trans-unit><source>a. b.</source><seg-source><mrk mtype=\"seg\" mid=\"0\">a.</mrk> "
                                  "<mrk mtype=\"seg\" mid=\"1\">b.</mrk></seg-source></trans-unit>"),
                            Format::xliff),
              HasSubstr("</seg-source><target state=\"needs-review-translation\"><mrk mtype=\"seg\" mid=\"0\">A.</mrk> "
                        "<mrk mtype=\"seg\" mid=\"1\">B.</mrk></target>"));
}

TEST(AndroidStrings, HaveTextWithoutEscapes) {
  const std::string file =
      "<resources><string name=\"a\">  \"It\\'s\" one\n line\\n\\u00e4\\@ &lt;</string></resources>";
  EXPECT_THAT(texts_of(file, Format::android), ElementsAre("It's one line\n\u00e4@ <"));
  EXPECT_EQ(with_first_text(file, Format::android, "@d'\"\n<").bytes,
            "<resources><string name=\"a\">  \\@d\\'\\\"\\n&lt;</string></resources>");
}

TEST(AndroidStrings, HaveCharactersOfTwoUnits) {
  EXPECT_THAT(texts_of("<resources><string name=\"a\">b \\ud83d\\ude00</string></resources>", Format::android),
              ElementsAre("b \U0001f600"));
}

TEST(AndroidStrings, OnlyOfResourcesAreRead) {
  EXPECT_THAT(
      texts_of("<resources><string-array name=\"a\"><item>b</item></string-array><integer name=\"c\">d</integer>"
               "<string name=\"e\"><![CDATA[f]]></string></resources>",
               Format::android),
      ElementsAre("b", "f"));
}

TEST(AndroidStrings, HaveCodesForTagsInText) {
  const std::string file =
      "<resources><string name=\"a\"><![CDATA[<p>A <a href=\\\"x\\\">cat</a></p><p>b</p>]]></string>"
      "<string name=\"c\">d <i>e &lt;b><xliff:g xmlns:xliff=\"x\">f</xliff:g>&lt;/b></i> &lt;g></string></resources>";
  EXPECT_THAT(texts_of(file, Format::android), ElementsAre("A cat\nb", "d e f <g>"));
  EXPECT_EQ(in_upper_case(file, Format::android),
            "<resources><string name=\"a\">&lt;p&gt;A &lt;a href=\\\"x\\\"&gt;CAT&lt;/a&gt;&lt;/p&gt;&lt;p&gt;B"
            "&lt;/p&gt;</string><string name=\"c\">D <i>E &lt;b&gt;<xliff:g "
            "xmlns:xliff=\"x\">f</xliff:g>&lt;/b&gt;</i> &lt;g&gt;</string></resources>");
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

TEST(Properties, AreLogicalLines) {
  EXPECT_THAT(texts_of("a=one \\\n  two\n! comment = x\nb : three\\\\\nc four\n\\ d\\==five\ne\n", Format::properties),
              ElementsAre("one two", "three\\", "four", "five"));
}

TEST(Properties, AreWrittenInTheirEncoding) {
  EXPECT_EQ(with_first_text("a=b\n", Format::properties, "\u00fc\U0001f600").bytes, "a=\\u00fc\\ud83d\\ude00\n");
  EXPECT_EQ(with_first_text("a=b\n# \xe4\n", Format::properties, "\u00fc").bytes, "a=\\u00fc\n# \xe4\n");
  EXPECT_EQ(with_first_text("a=b\n# \u00e4\n", Format::properties, "\u00fc").bytes, "a=\u00fc\n# \u00e4\n");
  EXPECT_THAT(texts_of("a=\xe4\\u00f6\\\xfc", Format::properties), ElementsAre("\u00e4\u00f6\u00fc"));
}

TEST(Properties, DoubleApostrophesBesideArguments) {
  const std::string file = "a=It''s {0}\n";
  EXPECT_THAT(texts_of(file, Format::properties), ElementsAre("It's {0}"));
  EXPECT_EQ(in_upper_case(file, Format::properties), "a=IT''S {0}\n");
  EXPECT_THAT(texts_of("a=It's {0}\nb=It''s\n", Format::properties), ElementsAre("It's {0}", "It''s"));
}

TEST(Properties, HaveCodesForTags) {
  const std::string file = "a=It''s <b>{0}</b> \\u00a9&copy;\n";
  EXPECT_THAT(texts_of(file, Format::properties), ElementsAre("It's {0} \u00a9&copy;"));
  EXPECT_EQ(in_upper_case(file, Format::properties), "a=IT''S <b>{0}</b> \\u00a9&copy;\n");
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

TEST(Markdown, LeavesCodeAndHtmlBlocks) {
  const std::string file =
      "text\n\n    code\n\n~~~ x\ncode\n~~~\n\n<div>\nhtml\n</div>\n\n<!-- a\n\nb -->\n- item\n\n  more\n\n      "
      "code\n\n[a]: b\n";
  EXPECT_THAT(texts_of(file, Format::markdown), ElementsAre("text", "item", "more"));
}

TEST(Markdown, LeavesRawHtmlUpToItsEndTag) {
  EXPECT_THAT(texts_of("<pre>\n\ncode\n</pre>\none\n<Script>a\n\nb</SCRIPT>\ntwo\n", Format::markdown),
              ElementsAre("one", "two"));
}

TEST(Markdown, HasABreakForATag) {
  const std::string file = "| cat<br>dog |\n|---|\n\na <BR/> b\n";
  EXPECT_THAT(texts_of(file, Format::markdown), ElementsAre("cat\ndog", "a \nb"));
  EXPECT_EQ(in_upper_case(file, Format::markdown), "| CAT<br>DOG |\n|---|\n\nA <BR/>B\n");
}

TEST(Markdown, KeepsTheLabelsOfLinks) {
  EXPECT_EQ(in_upper_case("[a] [a][] [a][a] [b] c[][] [](x)\n\n[a]: x\n", Format::markdown),
            "[A][a] [A][a] [A][a] \\[B\\] C[][] [](x)\n\n[a]: x\n");
}

TEST(Markdown, EscapesWhatWouldBeMarkup) {
  EXPECT_EQ(with_first_text("a\n", Format::markdown, "1. *b* [c] <d> `e` f_g 2 * 3\n- h").bytes,
            "1\\. \\*b\\* \\[c\\] \\<d> \\`e\\` f_g 2 * 3 - h\n");
  EXPECT_EQ(with_first_text("| a | b |\n|---|---|\n", Format::markdown, "c | d").bytes, "| c \\| d | b |\n|---|---|\n");
  EXPECT_EQ(with_first_text("a\n", Format::markdown, "# b").bytes, "\\# b\n");
}

TEST(Markdown, PutsEmphasisAroundWords) {
  const Document document = Document::parse("a *b* c\n", Format::markdown, "file");
  Segment translation{.text = "x y z", .codes = document.segments().at(0).codes};
  translation.codes[0].place = 1;
  translation.codes[1].place = 4;
  EXPECT_EQ(document.write(std::vector{translation}).bytes, "x *y* z\n");
  EXPECT_EQ(with_first_text("a *b* c\n", Format::markdown, "x").bytes, "x\n");
}

TEST(Markdown, HasCodesForEmphasisAndLinks) {
  const Document document =
      Document::parse("A **b *c*** ![d](e) f_g_h <br> <http://i.j> &nbsp; k\n", Format::markdown, "file");
  const Segment& segment = document.segments().at(0);
  std::vector<std::string> markups, placeholders;
  for (const InlineCode& code : segment.codes) markups.push_back(code.markup);
  for (const Placeholder& p : segment.placeholders) placeholders.push_back(*p.markup);
  EXPECT_EQ(segment.text, "A b c d f_g_h \n<http://i.j> &nbsp; k");
  EXPECT_THAT(markups, ElementsAre("**", "*", "*", "**", "![", "](e)", "<br>"));
  EXPECT_THAT(placeholders, ElementsAre("<http://i.j>", "&nbsp;"));
}

}  // namespace
}  // namespace encdec
