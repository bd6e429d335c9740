// Checks that the steps of readers and writers grow linearly with the size of a file.
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

// Files of a format: `repeated`, n times, between `begin` and `end`. See Repetition.
struct Shapes {
  Format format;
  std::string begin;
  std::vector<const char*> repeated;
  std::string end;
};

std::vector<Shapes> shapes() {
  const std::string cue = "1\n00:00:01,000 --> 00:00:02,000\n", time = ":00:01,000 --> 00:00:02,000\na\n";
  const std::string plurals = "msgid \"\"\nmsgstr \"Plural-Forms: nplurals=", entry = "msgid \"a\"\nmsgstr \"\"\n";
  const std::string id = "#, c-format\nmsgid \"a \"\n\"", end = "\"\nmsgstr \"\"\n";
  const std::string xliff = "<xliff version=\"1.2\"><file><body>", xliff_end = "</body></file></xliff>";
  return {
      {Format::text, "", {"a word\n\n", "a word\r\n", "a word ", "\n", "\r", " ", "\u5b57", "http://,", "a"}, ""},
      {Format::html, "", {"<p>a word</p>\n", "<p>a &amp; b</p>\n", "<div>a", "<!-- a -->", "<!--", "<", "&"}, ""},
      {Format::html,
       "",
       {"<script>", "<script>a", "<p translate=no>a", "<li>", "<ul><li>a<li>b</ul>", "</", "&lt;"},
       ""},
      {Format::html, "", {"<table>x", "<table><tr><td>a<tr><td>b</table>", "<td a b>", "<p><b>x</p>", "<a b='"}, ""},
      {Format::html, "", {"<svg><![CDATA[", "</p>"}, ""},
      {Format::html, "<p>a", {" &#; b ", " &x#y; b ", "<b>c</b> d ", "<b>c", "c</b>", "<br>"}, "b</p>"},
      {Format::html, "<div>a", {"</div>"}, ""},
      {Format::html, "<p ", {"a#=b "}, ">a</p>"},
      {Format::html, "<html ", {"lang=\"a\" "}, "><p>b"},
      {Format::srt, "", {"#\n00:00:01,000 --> 00:00:02,000\nwe went\n\n"}, ""},
      {Format::srt, "", {"#\n00:00:01,000 --> 00:00:02,000\nWe went.\n\n"}, ""},
      {Format::srt, cue, {"a line\n", "- a line\n", "\n", "<i>a</i> ", "<i>a", "a</i>", "{\\a}", "<rt>", "<a"}, "b\n"},
      {Format::srt, cue, {"a: ", "\u5b57", "1"}, ":2\n"},
      {Format::srt, "1\n0", {"0"}, time},
      {Format::vtt, "WEBVTT\n\n", {"00:01.000 --> 00:02.000\nwe went\n\n", "NOTE a\n\n"}, "00" + time},
      {Format::vtt, "WEBVTT\n\n00" + time, {"<c.x>a</c> ", "<00:01.000>a ", "<v Bob>a", "a &amp; &x; "}, "\n"},
      {Format::po, "", {"msgid \"a #\"\nmsgstr \"\"\n\n", "#~ msgid \"a #\"\n#~ msgstr \"\"\n\n"}, ""},
      {Format::po, "", {"msgid \"a %d\"\nmsgid_plural \"b %d\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n\n"}, ""},
      {Format::po, "", {"# a\n", "#, a-format\n"}, entry},
      {Format::po, "msgid \"a\"\nmsgid_plural \"b\"\n", {"msgstr[#] \"\"\n"}, ""},
      {Format::po, plurals, {"("}, "\\n\"\n\n" + entry},
      {Format::po, plurals + "2; plural=", {"("}, "\\n\"\n\n" + entry},
      {Format::po, "msgid \"\"\nmsgstr \"", {"plural "}, "\\n\"\n\n" + entry},
      {Format::po, id, {"line\"\n\"", "word ", "a", "a\\n", "%d ", "%#$d ", "%", "<b>a</b> ", "<b#>", "</b>"}, end},
      {Format::po, id, {"<br>a", "<b><i>a</b>", "&a;"}, end},
      {Format::po, "msgid \"a \"\n\"", {"{a#} ", "{a, plural, ", "{", "_"}, end},
      {Format::xliff, xliff, {"<trans-unit id=\"#\"><source>a</source></trans-unit>\n"}, xliff_end},
      {Format::xliff, xliff, {"<trans-unit id=\"#\"><source>a</source><target/></trans-unit>\n"}, xliff_end},
      {Format::xliff, xliff, {"<trans-unit id=\"#\" translate=\"no\"><source>a</source></trans-unit>\n"}, xliff_end},
      {Format::xliff, xliff, {"<group translate=\"no\"><group translate=\"yes\"/></group>"}, xliff_end},
      {Format::xliff, xliff, {"<group>", "<!-- a -->", " \n"}, xliff_end},
      {Format::xliff, "<xliff version=\"1.2\" ", {"a#=\"b\" "}, "><file/></xliff>"},
      {Format::xliff,
       xliff + "<trans-unit><source>a ",
       {"<g>a</g> ", "<g><g><g><g>a</g></g></g></g> ", "<g>", "<x id=\"#\"/>", "<x/>", "&amp;", "&lt;b>", "&lt;br>",
        "<mrk mtype=\"protected\">a</mrk> ", "<mrk translate=\"no\"><mrk translate=\"yes\">a</mrk> b</mrk> ",
        "&lt;b>a&lt;/b>", "<![CDATA[a]]>", "{n, plural, other {a}} ", "{n, plural, ", "%s "},
       " b</source></trans-unit>" + xliff_end},
      {Format::xliff,
       "<xliff version=\"2.0\"><file><unit><segment><source>a ",
       {"<pc>a</pc> <ph/>", "<sm id=\"#\" translate=\"no\"/>a<em startRef=\"#\"/> ", "<sm id=\"#\" translate=\"no\"/>a",
        "</source></segment><segment><source>a"},
       " b</source></segment></unit></file></xliff>"},
  };
}

// Reads a file, and writes it with other texts. Returns the memory that was reported.
std::size_t read_and_write(const std::function<Document(const DocumentOptions&)>& parse) {
  std::size_t memory = 0;
  const DocumentOptions options{.target_language = "ru", .on_memory = [&](std::size_t bytes) { memory += bytes; }};
  try {
    const Document document = parse(options);
    static_cast<void>(document.write(upper_case(document.segments())));
  } catch (const FileError&) {  // a rejected file takes steps too
  }
  return memory;
}

TEST(DocumentSteps, AreInProportionToTheSizeOfAFile) {
  for (const auto& [format, begin, repeated, end] : shapes()) {
    for (const char* each : repeated) {
      SCOPED_TRACE(testing::Message() << name_of(kDocumentFormats, format) << ": " << begin << " n * " << each);
      expect_linear([&](std::size_t n) {
        const std::string file = Repetition{begin.c_str(), each, end.c_str()}.of_size(n);
        const std::size_t memory = read_and_write(
            [&](const DocumentOptions& options) { return Document::parse(file, format, "file", options); });
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
