// Parts of archives in XML with paragraphs: of OpenDocument files, and of EPUB books that are not pages.
#include <algorithm>
#include <array>

#include "encdec/models/translation/documents/xml.h"

namespace encdec::documents {

// Paragraphs and headings. Notes and text boxes are paragraphs inside paragraphs.
std::unique_ptr<TextFile> read_open_document_part(std::string_view bytes, const std::string& name,
                                                  const DocumentOptions& /*options*/) {
  // Deletions of tracked changes, comments, and templates.
  constexpr std::array<std::string_view, 3> kLeft = {"tracked-changes", "annotation", "index-title-template"};
  auto file = std::make_unique<TextFile>(bytes, xml_syntax(Spaces::collapse));
  const XmlTokens xml(bytes, name);
  const auto kind_of = [&xml](std::size_t i) {
    const std::string_view element = xml.name(i);
    if (element == "line-break" || element == "tab") return XmlTokens::Inline::line_break;
    const bool is_pair = element == "span" || element == "a" || element == "meta";
    return is_pair ? XmlTokens::Inline::pair : XmlTokens::Inline::single;
  };
  for (std::size_t i = 0, paragraphs = 0; i < xml.size(); ++i) {
    if (std::ranges::find(kLeft, xml.name(i)) != kLeft.end()) {
      i = xml[i].partner;
    } else if (xml.full_name(i) == "text:p" || xml.full_name(i) == "text:h") {
      file->add(xml.items(i, kind_of), ++paragraphs);
    }
  }
  return file;
}

// The package of a book, with its language.
std::unique_ptr<TextFile> read_package(std::string_view bytes, const std::string& name,
                                       const DocumentOptions& options) {
  auto file = std::make_unique<TextFile>(bytes, xml_syntax(Spaces::collapse));
  const XmlTokens xml(bytes, name);
  for (std::size_t i = 0; i < xml.size() && !options.target_language.empty(); ++i) {
    if (xml.full_name(i) != "dc:language") continue;
    file->add_edit(xml.content(i), escape_xml(options.target_language));
    break;  // what follows are other languages of the book
  }
  return file;
}

// The table of contents of EPUB 2.
std::unique_ptr<TextFile> read_contents(std::string_view bytes, const std::string& name,
                                        const DocumentOptions& /*options*/) {
  auto file = std::make_unique<TextFile>(bytes, xml_syntax(Spaces::collapse));
  const XmlTokens xml(bytes, name);
  for (std::size_t i = 0; i < xml.size(); ++i) {
    if (xml.name(i) == "text") file->add(xml.items(i, [](std::size_t) { return XmlTokens::Inline::single; }));
  }
  return file;
}

}  // namespace encdec::documents
