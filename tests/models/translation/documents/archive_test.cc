// Formats that are zip archives: Office Open XML, OpenDocument, EPUB.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/models/checkpoint/zip_archive.h"
#include "tests/models/translation/documents/upper_case.h"
#include "tests/support/message_of.h"
#include "tests/support/zip_writer.h"

namespace encdec {
namespace {

using Format = DocumentFormat;
using testing::ElementsAre;
using testing::HasSubstr;

ZipWriterEntry deflated_entry(const std::string& name, const std::string& text) {
  return {.name = name, .data = deflated(text), .method = 8, .size = text.size(), .checksum = zip_checksum(text)};
}

std::string docx(const std::string& paragraphs) {
  const std::string type = "application/vnd.openxmlformats-officedocument.wordprocessingml.";
  return zip_bytes(
      {deflated_entry("[Content_Types].xml", "<Types><Override PartName=\"/word/document2.xml\" ContentType=\"" + type +
                                                 "document.main+xml\"/></Types>"),
       deflated_entry("word/document2.xml", "<w:document xmlns:w=\"w\">" + paragraphs + "</w:document>"),
       {.name = "picture.png", .data = "picture"}},
      {.comment = "a comment"});
}

std::string content_of(const std::string& archive, const std::string& entry) {
  const ZipArchive zip({.bytes = std::as_bytes(std::span(archive)), .owner = nullptr, .name = "file"});
  return std::string(as_text(zip.read(*zip.find(entry)).bytes));
}

// Returns paragraphs in capitals.
std::string upper_paragraphs(const std::string& paragraphs) {
  const std::string content = content_of(in_upper_case(docx(paragraphs), Format::docx), "word/document2.xml");
  constexpr std::string_view kBegin = "<w:document xmlns:w=\"w\">", kEnd = "</w:document>";
  return content.substr(kBegin.size(), content.size() - kBegin.size() - kEnd.size());
}

std::string run(const std::string& text, const std::string& format = "") {
  return "<w:r>" + format + "<w:t xml:space=\"preserve\">" + text + "</w:t></w:r>";
}

constexpr const char* kBold = "<w:rPr><w:b/></w:rPr>";

TEST(OfficeDocument, JoinsRunsThatLookTheSame) {
  const std::string paragraph =
      "<w:p>" + run("wo") + run("rd", "<w:rPr><w:lang w:val=\"de\"/></w:rPr>") + "<w:proofErr/>" + run(" b") + "</w:p>";
  EXPECT_THAT(texts_of(docx(paragraph), Format::docx), ElementsAre("word b"));
  EXPECT_EQ(upper_paragraphs(paragraph), "<w:p>" + run("WORD B") + "</w:p>");
}

TEST(OfficeDocument, HasAPairOfCodesForOtherFormats) {
  const std::string paragraph = "<w:p>" + run("bold ", kBold) + run("and plain text") + "</w:p>";
  const Document document = Document::parse(docx(paragraph), Format::docx, "file");
  const Segment& segment = document.segments().at(0);
  EXPECT_THAT(segment.codes, ElementsAre(InlineCode{.place = 0, .markup = kBold, .partner = 1},
                                         InlineCode{.place = 5, .markup = "</rPr>", .partner = 0}));
  Segment turned{.text = "Text fett", .codes = segment.codes};
  turned.codes[0].place = 5;
  turned.codes[1].place = 9;
  EXPECT_THAT(content_of(document.write(std::vector{turned}).bytes, "word/document2.xml"),
              HasSubstr("<w:p>" + run("Text ") + run("fett", kBold) + "</w:p>"));
}

TEST(OfficeDocument, KeepsLinksBreaksAndNotes) {
  const std::string note = "<w:r><w:footnoteReference w:id=\"1\"/></w:r>";
  const std::string paragraph = "<w:p>" + run("a ") + "<w:hyperlink r:id=\"1\" xmlns:r=\"r\">" + run("b") +
                                "</w:hyperlink><w:r><w:t>c</w:t><w:br/><w:t>d</w:t></w:r>" + note + run("e") + "</w:p>";
  EXPECT_EQ(upper_paragraphs(paragraph), "<w:p>" + run("A ") + "<w:hyperlink r:id=\"1\" xmlns:r=\"r\">" + run("B") +
                                             "</w:hyperlink>" + run("C") + "<w:r><w:br/></w:r>" + run("D") + note +
                                             run("E") + "</w:p>");
}

TEST(OfficeDocument, HasOnePairOfCodesForAField) {
  const auto mark = [](const std::string& type) { return "<w:r><w:fldChar w:fldCharType=\"" + type + "\"/></w:r>"; };
  const std::string begin = mark("begin") + "<w:r><w:instrText>PAGE</w:instrText></w:r>" + mark("separate");
  const std::string paragraph = "<w:p>" + run("on ") + begin + run("x") + mark("end") + run(" y") + "</w:p>";
  const Document document = Document::parse(docx(paragraph), Format::docx, "file");
  ASSERT_EQ(document.segments().at(0).codes.size(), 2u);
  EXPECT_EQ(document.segments()[0].codes[0].markup, begin);
  EXPECT_EQ(upper_paragraphs(paragraph), "<w:p>" + run("ON ") + begin + run("X") + mark("end") + run(" Y") + "</w:p>");
}

TEST(OfficeDocument, KeepsContentControlsInsideParagraphs) {
  const auto control = [](const std::string& content) {
    return "<w:sdt><w:sdtPr/><w:sdtContent>" + content + "</w:sdtContent><w:sdtEndPr/></w:sdt>";
  };
  EXPECT_EQ(upper_paragraphs("<w:p>" + control(run("a") + control(run("b"))) + run("c") + "</w:p>"),
            "<w:p>" + control(run("A") + control(run("B"))) + run("C") + "</w:p>");
}

TEST(OfficeDocument, TranslatesTextBoxesInsideParagraphs) {
  const std::string box = "<w:r><w:pict><w:txbxContent><w:p>";
  const std::string end = "</w:p></w:txbxContent></w:pict></w:r>";
  EXPECT_EQ(upper_paragraphs("<w:p>" + run("a") + box + run("b") + end + run("c") + "</w:p>"),
            "<w:p>" + run("A") + box + run("B") + end + run("C") + "</w:p>");
}

TEST(OfficeDocument, DoesNotTranslateDeletedText) {
  const std::string deleted = "<w:del><w:r><w:delText>x</w:delText></w:r></w:del>";
  EXPECT_EQ(upper_paragraphs("<w:p>" + run("a") + deleted + run("b") + "</w:p>"),
            "<w:p>" + run("A") + deleted + run("B") + "</w:p>");
}

TEST(OfficeArchive, CopiesOtherEntriesAndTheComment) {
  const std::string before = docx("<w:p>" + run("a") + "</w:p>"), after = in_upper_case(before, Format::docx);
  const auto raw = [](const std::string& archive, const std::string& name) {
    const ZipArchive zip({.bytes = std::as_bytes(std::span(archive)), .owner = nullptr, .name = "file"});
    const ZipEntry& entry = *zip.find(name);
    return archive.substr(entry.begin, entry.offset + entry.compressed_size - entry.begin);
  };
  for (const char* name : {"[Content_Types].xml", "picture.png"}) EXPECT_EQ(raw(before, name), raw(after, name));
  EXPECT_EQ(content_of(after, "word/document2.xml"),
            "<w:document xmlns:w=\"w\"><w:p>" + run("A") + "</w:p></w:document>");
  EXPECT_TRUE(after.ends_with("a comment"));
}

TEST(OfficeArchive, RefusesTooMuchContent) {
  const std::string zeros(70 << 20, '\0');
  EXPECT_THAT(
      refusal_of("file",
                 [&] { Document::parse(zip_bytes({deflated_entry("content.xml", zeros)}), Format::odt, "file"); }),
      HasSubstr("deflated entries of more than"));
  EXPECT_EQ(refusal_of("file",
                       [] {
                         Document::parse(zip_bytes({{.name = "content.xml", .data = "12345"}}), Format::odt, "file",
                                         {.max_content_bytes = 4});
                       }),
            "file: 5 bytes of content, expected at most 4");
  std::vector<ZipWriterEntry> many;
  for (int i = 0; i < 10'001; ++i) many.push_back({.name = std::to_string(i)});
  EXPECT_EQ(refusal_of("file", [&] { Document::parse(zip_bytes(many), Format::odt, "file"); }),
            "file: 10001 entries, expected at most 10000");
}

std::string epub(const std::string& language, const std::string& page) {
  return zip_bytes(
      {{.name = "mimetype", .data = "application/epub+zip"},
       {.name = "META-INF/container.xml", .data = "<container><rootfile full-path=\"OPS/p.opf\"/></container>"},
       {.name = "OPS/p.opf",
        .data = "<package xmlns:dc=\"d\"><dc:language>" + language +
                "</dc:language><item id=\"b\" href=\"b.xhtml\" media-type=\"application/xhtml+xml\"/><item id=\"a\" "
                "href=\"../a.xhtml\" media-type=\"application/xhtml+xml\"/><item id=\"t\" href=\"toc.ncx\" "
                "media-type=\"application/x-dtbncx+xml\"/><itemref idref=\"a\"/><itemref idref=\"b\"/></package>"},
       {.name = "OPS/toc.ncx", .data = "<ncx><text>toc</text></ncx>"},
       {.name = "OPS/b.xhtml", .data = "<html><p>second</p></html>"},
       {.name = "a.xhtml", .data = page}});
}

TEST(Book, IsReadInTheOrderOfItsSpine) {
  EXPECT_THAT(texts_of(epub("en", "<html><p>first</p></html>"), Format::epub), ElementsAre("first", "second", "toc"));
}

TEST(Book, GetsTheTargetLanguage) {
  const std::string book = in_upper_case(epub("en", "<html xml:lang=\"en\" lang=\"en\"><p>a</p></html>"), Format::epub,
                                         {.target_language = "de"});
  EXPECT_THAT(content_of(book, "OPS/p.opf"), HasSubstr("<dc:language>de</dc:language>"));
  EXPECT_EQ(content_of(book, "a.xhtml"), "<html xml:lang=\"de\" lang=\"de\"><p>A</p></html>");
  EXPECT_EQ(book.find("mimetypeapplication/epub+zip"), 30u);
}

}  // namespace
}  // namespace encdec
