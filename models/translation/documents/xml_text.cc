// A text with elements of XML, as clients send it: one segment, in which all elements are codes or placeholders.
#include <algorithm>

#include "encdec/models/translation/documents/xml.h"

namespace encdec::documents {
namespace {

constexpr std::string_view kBegin = "<x>", kEnd = "</x>";

class XmlText final : public ReplacingFile {
 public:
  XmlText(std::string_view bytes, std::span<const std::string> kept, const std::string& name)
      : ReplacingFile(bytes, escape_xml, Nesting::strict), file_(std::string(kBegin).append(bytes).append(kEnd)) {
    bytes_ = file_;
    const XmlTokens xml(bytes_, name);
    const auto kind_of = [&](std::size_t token) {
      const bool is_kept =
          std::ranges::find(kept, std::string(xml.prefix(token)).append(xml.name(token))) != kept.end();
      return is_kept ? XmlTokens::Inline::placeholder : XmlTokens::Inline::pair;
    };
    if (auto text = text_of(bytes_, xml.items(0, kind_of), unescape_xml, Spaces::keep)) texts_.push_back(*text);
  }

  void edit_rest(std::vector<Edit>& edits) const override {
    edits.push_back({.range = {0, kBegin.size()}, .pieces = {}});
    edits.push_back({.range = {file_.size() - kEnd.size(), file_.size()}, .pieces = {}});
  }

 private:
  std::string file_;
};

}  // namespace

std::unique_ptr<TextFile> read_xml_text(std::string_view bytes, std::span<const std::string> kept,
                                        const std::string& name) {
  return std::make_unique<XmlText>(bytes, kept, name);
}

}  // namespace encdec::documents
