// Readers and writers of files take steps in proportion to the size of a file.
#include "tests/support/steps.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "encdec/engine/base/error.h"
#include "tools/translation/tests/documents/upper_case.h"

namespace encdec {
namespace {

using Format = DocumentFormat;

struct Maker {
  Format format;
  std::vector<Repetition> shapes;
};

constexpr const char* kCue = "1\n00:00:01,000 --> 00:00:02,000\n";
constexpr const char* kVttCue = "WEBVTT\n\n00:01.000 --> 00:02.000\n";
constexpr const char* kXliff = "<xliff version=\"1.2\"><file><body>";
constexpr const char* kXliffEnd = "</body></file></xliff>";
constexpr const char* kUnit = "<xliff version=\"1.2\"><file><body><trans-unit><source>a ";
constexpr const char* kUnitEnd = " b</source></trans-unit></body></file></xliff>";
constexpr const char* kXliff2 = "<xliff version=\"2.0\"><file><unit><segment><source>a ";
constexpr const char* kXliff2End = " b</source></segment></unit></file></xliff>";
constexpr const char* kId = "#, c-format\nmsgid \"a \"\n\"";
constexpr const char* kIdEnd = "\"\nmsgstr \"\"\n";

const std::vector<Maker>& makers() {
  static const std::vector<Maker> all = {
      {Format::text,
       {{"", "a word\n\n", ""},
        {"", "a word\r\n", ""},
        {"", "a word ", ""},
        {"", "\n", ""},
        {"", "\r", ""},
        {"", " ", ""},
        {"", "\u5b57", ""},
        {"", "http://,", ""},
        {"", "a", ""}}},
      {Format::html,
       {{"", "<p>a word</p>\n", ""},
        {"", "<p>a &amp; b</p>\n", ""},
        {"<p>", "a &#; b ", "</p>"},
        {"<p>", "a &x#y; b ", "</p>"},
        {"<p>a", "<b>c</b> d ", "</p>"},
        {"<p>a", "<b>c", "</p>"},
        {"<p>a", "c</b>", "</p>"},
        {"<p>a", "<br>", "b</p>"},
        {"", "<div>a", ""},
        {"<div>a", "</div>", ""},
        {"<p ", "a#=b ", ">a</p>"},
        {"", "<!-- a -->", ""},
        {"", "<!--", ""},
        {"", "<", ""},
        {"", "&", ""},
        {"", "<script>a", ""},
        {"", "<p translate=no>a", ""},
        {"", "<ul><li>a<li>b</ul>", ""},
        {"", "<table><tr><td>a<tr><td>b</table>", ""},
        {"<html ", "lang=\"a\" ", "><p>b"}}},
      {Format::srt,
       {{"", "#\n00:00:01,000 --> 00:00:02,000\nwe went\n\n", ""},
        {"", "#\n00:00:01,000 --> 00:00:02,000\nWe went.\n\n", ""},
        {kCue, "a line\n", ""},
        {kCue, "- a line\n", ""},
        {kCue, "<i>a</i> ", "\n"},
        {kCue, "<i>a", "\n"},
        {kCue, "a</i>", "\n"},
        {kCue, "{\\a}", "b\n"},
        {kCue, "<rt>", "b\n"},
        {kCue, "<a", "b\n"},
        {kCue, "a: ", "b\n"},
        {kCue, "\u5b57", "\n"},
        {kCue, "1", ":2\n"},
        {"1\n0", "0", ":00:01,000 --> 00:00:02,000\na\n"},
        {kCue, "\n", "b\n"}}},
      {Format::vtt,
       {{"WEBVTT\n\n", "00:01.000 --> 00:02.000\nwe went\n\n", ""},
        {"WEBVTT\n\n", "NOTE a\n\n", "00:01.000 --> 00:02.000\na\n"},
        {kVttCue, "<c.x>a</c> ", "\n"},
        {kVttCue, "<00:01.000>a ", "\n"},
        {kVttCue, "<v Bob>a", "\n"},
        {kVttCue, "a &amp; &x; ", "\n"}}},
      {Format::po,
       {{"", "msgid \"a #\"\nmsgstr \"\"\n\n", ""},
        {"", "#~ msgid \"a #\"\n#~ msgstr \"\"\n\n", ""},
        {"", "# a\n", "msgid \"a\"\nmsgstr \"\"\n"},
        {"", "#, a-format\n", "msgid \"a\"\nmsgstr \"\"\n"},
        {"", "msgid \"a %d\"\nmsgid_plural \"b %d\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n\n", ""},
        {"msgid \"a\"\nmsgid_plural \"b\"\n", "msgstr[#] \"\"\n", ""},
        {"msgid \"\"\nmsgstr \"Plural-Forms: nplurals=", "(", "\\n\"\n\nmsgid \"a\"\nmsgstr \"\"\n"},
        {"msgid \"\"\nmsgstr \"Plural-Forms: nplurals=2; plural=", "(", "\\n\"\n\nmsgid \"a\"\nmsgstr \"\"\n"},
        {"msgid \"\"\nmsgstr \"", "plural ", "\\n\"\n\nmsgid \"a\"\nmsgstr \"\"\n"},
        {kId, "line\"\n\"", kIdEnd},
        {kId, "word ", kIdEnd},
        {kId, "a", kIdEnd},
        {kId, "a\\n", kIdEnd},
        {kId, "%d ", kIdEnd},
        {kId, "%#$d ", kIdEnd},
        {kId, "%", kIdEnd},
        {kId, "<b>a</b> ", kIdEnd},
        {kId, "<b#>", kIdEnd},
        {kId, "</b>", kIdEnd},
        {kId, "<br>a", kIdEnd},
        {kId, "<b><i>a</b>", kIdEnd},
        {kId, "&a;", kIdEnd},
        {"msgid \"a \"\n\"", "{a#} ", kIdEnd},
        {"msgid \"a \"\n\"", "{a, plural, ", kIdEnd},
        {"msgid \"a \"\n\"", "{", kIdEnd},
        {"msgid \"a ", "_", kIdEnd}}},
      {Format::xliff,
       {{kXliff, "<trans-unit id=\"#\"><source>a</source></trans-unit>\n", kXliffEnd},
        {kXliff, "<trans-unit id=\"#\"><source>a</source><target/></trans-unit>\n", kXliffEnd},
        {kXliff, "<trans-unit id=\"#\" translate=\"no\"><source>a</source></trans-unit>\n", kXliffEnd},
        {kXliff, "<group translate=\"no\"><group translate=\"yes\"/></group>", kXliffEnd},
        {kXliff, "<group>", kXliffEnd},
        {kXliff, "<!-- a -->", kXliffEnd},
        {kXliff, " \n", kXliffEnd},
        {"<xliff version=\"1.2\" ", "a#=\"b\" ", "><file/></xliff>"},
        {kUnit, "<g>a</g> ", kUnitEnd},
        {kUnit, "<g><g><g><g>a</g></g></g></g> ", kUnitEnd},
        {kUnit, "<g>", kUnitEnd},
        {kUnit, "<x id=\"#\"/>", kUnitEnd},
        {kUnit, "<x/>", kUnitEnd},
        {kUnit, "<mrk mtype=\"protected\">a</mrk> ", kUnitEnd},
        {kUnit, "<mrk translate=\"no\"><mrk translate=\"yes\">a</mrk> b</mrk> ", kUnitEnd},
        {kUnit, "&amp;", kUnitEnd},
        {kUnit, "&lt;b>", kUnitEnd},
        {kUnit, "&lt;b>a&lt;/b>", kUnitEnd},
        {kUnit, "&lt;br>", kUnitEnd},
        {kUnit, "<![CDATA[a]]>", kUnitEnd},
        {kUnit, "{n, plural, other {a}} ", kUnitEnd},
        {kUnit, "{n, plural, ", kUnitEnd},
        {kUnit, "%s ", kUnitEnd},
        {kXliff2, "<pc>a</pc> <ph/>", kXliff2End},
        {kXliff2, "<sm id=\"#\" translate=\"no\"/>a<em startRef=\"#\"/> ", kXliff2End},
        {kXliff2, "<sm id=\"#\" translate=\"no\"/>a", kXliff2End},
        {kXliff2, "</source></segment><segment><source>a", kXliff2End}}},
  };
  return all;
}

// Reads a file, and writes it with other texts. Returns the memory that was counted.
std::size_t read_and_write(const std::function<Document(const DocumentOptions&)>& parse) {
  std::size_t memory = 0;
  const DocumentOptions options{.target_language = "ru", .on_memory = [&](std::size_t bytes) { memory += bytes; }};
  try {
    const Document document = parse(options);
    static_cast<void>(document.write(upper_case(document.segments())));
  } catch (const FileError&) {  // a refusal takes steps too
  }
  return memory;
}

TEST(DocumentSteps, AreInProportionToTheSizeOfAFile) {
  for (const Maker& maker : makers()) {
    for (const Repetition& shape : maker.shapes) {
      SCOPED_TRACE(testing::Message() << name_of(kDocumentFormats, maker.format) << ": " << shape.begin << " n * "
                                      << shape.each);
      expect_linear([&](std::size_t n) {
        const std::string file = shape.of_size(n);
        const std::size_t memory = read_and_write(
            [&](const DocumentOptions& options) { return Document::parse(file, maker.format, "file", options); });
        EXPECT_LE(memory, 1000 * file.size());
      });
    }
  }
}

TEST(DocumentSteps, AreInProportionToNamesAndElements) {
  for (const char* each : {"<a#/>b ", "<a#>b</a#> ", "<c>b</c>", "<c/>", "&amp;", "<c>", "<!-- a -->"}) {
    SCOPED_TRACE(each);
    expect_linear([&](std::size_t n) {
      std::vector<std::string> names;
      for (std::size_t i = 0; i < n; ++i) names.push_back("a" + std::to_string(i));
      const std::string text = Repetition{"b ", each, ""}.of_size(n);
      read_and_write(
          [&](const DocumentOptions& options) { return Document::parse_xml_text(text, names, "text", options); });
    });
  }
}

}  // namespace
}  // namespace encdec
