// Texts of clients with elements of XML.
#include <fmt/format.h>

#include <set>

#include "encdec/models/translation/documents/xml.h"

namespace encdec::documents {
namespace {

constexpr std::string_view kBegin = "<x>", kEnd = "</x>";

// A text of a client, inside an element that is not written.
class XmlText final : public TextFile {
 public:
  XmlText(const InputFile& input, std::span<const std::string> kept)
      : TextFile(input, {.unescape = unescape_xml, .escape = escape_html, .nesting = Nesting::strict}),
        file_(fmt::format("{}{}{}", kBegin, input.bytes, kEnd)) {
    input_.bytes = file_;
    const XmlTokens xml(input_);
    const std::set<std::string_view> names(kept.begin(), kept.end());
    add(xml.items(0, [&](std::size_t i) {
      const bool is_kept = xml.is_start(i) && names.contains(xml.full_name(i));
      return is_kept ? XmlTokens::Inline::placeholder : XmlTokens::Inline::pair;
    }));
    add_edit({0, kBegin.size()}, "");
    add_edit({file_.size() - kEnd.size(), file_.size()}, "");
  }

 private:
  const std::string file_;
};

}  // namespace

std::unique_ptr<TextFile> read_xml_text(const InputFile& input, std::span<const std::string> kept) {
  return std::make_unique<XmlText>(input, kept);
}

}  // namespace encdec::documents
