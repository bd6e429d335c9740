// The parts of EPUB books that are not pages: the package, with the book's language, and EPUB 2's table of contents.
#include "encdec/models/translation/documents/xml.h"

namespace encdec::documents {
namespace {

class Package final : public ReplacingFile {
 public:
  Package(std::string_view bytes, const std::string& name, const DocumentOptions& options)
      : ReplacingFile(bytes, escape_xml, Nesting::strict) {
    const XmlTokens xml(bytes, name);
    for (std::size_t i = 0; i < xml.size() && !options.target_language.empty(); ++i) {
      if (xml.prefix(i) != "dc:" || xml.name(i) != "language") continue;
      language_.push_back({.range = xml.content(i), .pieces = {{.text = escape_xml(options.target_language)}}});
      return;  // other languages of the book
    }
  }

  void edit_rest(std::vector<Edit>& edits) const override {
    edits.insert(edits.end(), language_.begin(), language_.end());
  }

 private:
  std::vector<Edit> language_;
};

class Contents final : public ReplacingFile {
 public:
  Contents(std::string_view bytes, const std::string& name) : ReplacingFile(bytes, escape_xml, Nesting::strict) {
    const XmlTokens xml(bytes, name);
    for (std::size_t i = 0; i < xml.size(); ++i) {
      if (xml.name(i) != "text") continue;
      auto text = text_of(bytes, xml.items(i, [](std::size_t) { return XmlTokens::Inline::single; }), unescape_xml,
                          Spaces::collapse);
      if (text) texts_.push_back(*std::move(text));
    }
  }
};

}  // namespace

std::unique_ptr<TextFile> read_package(std::string_view bytes, const std::string& name,
                                       const DocumentOptions& options) {
  return std::make_unique<Package>(bytes, name, options);
}

std::unique_ptr<TextFile> read_contents(std::string_view bytes, const std::string& name,
                                        const DocumentOptions& /*options*/) {
  return std::make_unique<Contents>(bytes, name);
}

}  // namespace encdec::documents
