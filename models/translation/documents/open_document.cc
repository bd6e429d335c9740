// The parts of OpenDocument files: paragraphs and headings. Notes and text boxes are paragraphs inside paragraphs.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "encdec/models/translation/documents/xml.h"

namespace encdec::documents {
namespace {

class OpenDocumentPart final : public ReplacingFile {
 public:
  OpenDocumentPart(std::string_view bytes, const std::string& name)
      : ReplacingFile(bytes, escape_xml, Nesting::strict) {
    const XmlTokens xml(bytes, name);
    // Deletions of tracked changes, comments, and templates.
    constexpr std::array<std::string_view, 3> kLeft = {"tracked-changes", "annotation", "index-title-template"};
    for (std::size_t i = 0; i < xml.size(); ++i) {
      const std::string_view element = xml.name(i);
      if (std::ranges::find(kLeft, element) != kLeft.end()) {
        i = xml[i].partner;
      } else if (xml.prefix(i) == "text:" && (element == "p" || element == "h")) {
        ++paragraphs_;
        const auto items = xml.items(i, [&xml](std::size_t token) {
          const std::string_view inside = xml.name(token);
          if (inside == "line-break" || inside == "tab") return XmlTokens::Inline::line_break;
          return inside == "span" || inside == "a" || inside == "meta" ? XmlTokens::Inline::pair
                                                                       : XmlTokens::Inline::single;
        });
        auto text = text_of(bytes, items, unescape_xml, Spaces::collapse);
        if (!text) continue;
        texts_.push_back(*std::move(text));
        paragraph_of_.push_back(paragraphs_);
      }
    }
  }

  std::string where(std::size_t text) const override { return fmt::format("paragraph {}", paragraph_of_.at(text)); }

 private:
  std::size_t paragraphs_ = 0;
  std::vector<std::size_t> paragraph_of_;
};

}  // namespace

std::unique_ptr<TextFile> read_open_document_part(std::string_view bytes, const std::string& name,
                                                  const DocumentOptions& /*options*/) {
  return std::make_unique<OpenDocumentPart>(bytes, name);
}

}  // namespace encdec::documents
