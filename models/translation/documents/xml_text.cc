// A text with elements of XML, as clients send it: one segment, in which all elements are codes or placeholders.
#include <algorithm>

#include "encdec/models/translation/documents/xml.h"

namespace encdec::documents {
namespace {

constexpr std::string_view kBegin = "<x>", kEnd = "</x>";

class XmlText final : public TextFile {
 public:
  XmlText(std::string_view bytes, std::span<const std::string> kept, const std::string& name)
      : TextFile(bytes, xml_syntax(Spaces::keep)), file_(std::string(kBegin).append(bytes).append(kEnd)) {
    bytes_ = file_;
    const XmlTokens xml(bytes_, name);
    add(xml.items(0, [&](std::size_t i) {
      return std::ranges::find(kept, xml.full_name(i)) == kept.end() ? XmlTokens::Inline::pair
                                                                     : XmlTokens::Inline::placeholder;
    }));
    add_edit({0, kBegin.size()}, "");
    add_edit({file_.size() - kEnd.size(), file_.size()}, "");
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
