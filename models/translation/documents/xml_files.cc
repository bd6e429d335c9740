// Simple files in XML: parts of OpenDocument files, parts of EPUB books that are not pages, and texts of clients.
#include <fmt/format.h>

#include <algorithm>

#include "encdec/models/translation/documents/xml.h"
#include "encdec/models/translation/text/word_list.h"

namespace encdec::documents {

// Paragraphs and headings. Notes and text boxes are paragraphs inside paragraphs.
std::unique_ptr<TextFile> read_open_document_part(const InputFile& input) {
  // Deletions of tracked changes, comments, and templates.
  constexpr std::string_view kLeft = "tracked-changes annotation index-title-template";
  auto file = std::make_unique<TextFile>(input, xml_syntax(Spaces::collapse));
  const XmlTokens xml(input);
  const auto kind_of = [&xml](std::size_t i) {
    if (has_word("line-break tab", xml.name(i))) return XmlTokens::Inline::line_break;
    if (xml.name(i) == "s") return XmlTokens::Inline::space;
    return has_word("span a meta", xml.name(i)) ? XmlTokens::Inline::pair : XmlTokens::Inline::single;
  };
  for (std::size_t i = 0, paragraphs = 0; i < xml.size(); ++i) {
    if (has_word(kLeft, xml.name(i))) {
      i = xml[i].partner;
    } else if (xml.full_name(i) == "text:p" || xml.full_name(i) == "text:h") {
      file->add(xml.items(i, kind_of), ++paragraphs);
    }
  }
  return file;
}

// The package of a book, with its language.
std::unique_ptr<TextFile> read_package(const InputFile& input) {
  auto file = std::make_unique<TextFile>(input, xml_syntax(Spaces::collapse));
  const XmlTokens xml(input);
  for (std::size_t i = 0; i < xml.size() && !input.options.target_language.empty(); ++i) {
    if (xml.full_name(i) != "dc:language") continue;
    file->add_edit(xml.content(i), escape_xml(input.options.target_language));
    break;  // later ones are other languages of the book
  }
  return file;
}

// The table of contents of EPUB 2.
std::unique_ptr<TextFile> read_contents(const InputFile& input) {
  auto file = std::make_unique<TextFile>(input, xml_syntax(Spaces::collapse));
  const XmlTokens xml(input);
  for (std::size_t i = 0; i < xml.size(); ++i) {
    if (xml.name(i) == "text") file->add(xml.items(i, [](std::size_t) { return XmlTokens::Inline::single; }));
  }
  return file;
}

namespace {

constexpr std::string_view kBegin = "<x>", kEnd = "</x>";

// A text of a client, inside an element that is not written.
class XmlText final : public TextFile {
 public:
  XmlText(const InputFile& input, std::span<const std::string> kept)
      : TextFile(input, syntax()), file_(fmt::format("{}{}{}", kBegin, input.bytes, kEnd)) {
    input_.bytes = file_;
    const XmlTokens xml(input_);
    add(xml.items(0, [&](std::size_t i) {
      const bool is_kept = std::ranges::find(kept, xml.full_name(i)) != kept.end();
      return is_kept ? XmlTokens::Inline::placeholder : XmlTokens::Inline::pair;
    }));
    add_edit({0, kBegin.size()}, "");
    add_edit({file_.size() - kEnd.size(), file_.size()}, "");
  }

 private:
  static Syntax syntax() {
    Syntax syntax = xml_syntax(Spaces::keep);
    syntax.is_xml = false;  // may be without a root
    return syntax;
  }

  const std::string file_;
};

}  // namespace

std::unique_ptr<TextFile> read_xml_text(const InputFile& input, std::span<const std::string> kept) {
  return std::make_unique<XmlText>(input, kept);
}

}  // namespace encdec::documents
