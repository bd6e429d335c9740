// HTML and XHTML. Attributes are not translated.
#include "encdec/models/tokenizer/base/lower_case.h"
#include "encdec/models/translation/documents/text_file.h"
#include "encdec/models/translation/text/html.h"

namespace encdec::documents {
namespace {

class HtmlFile final : public ReplacingFile {
 public:
  HtmlFile(std::string_view bytes, const DocumentOptions& options, Nesting nesting)
      : ReplacingFile(bytes, escape_html, nesting), language_(options.target_language) {
    std::size_t begin = 0;
    for (const HtmlPart& part : parse_html(bytes)) {
      const ByteRange range = {begin, begin + part.bytes};
      begin = range.end;
      if (!part.is_text) continue;
      auto text = text_of(bytes, items_of(range, part.segment.codes), unescape_html, Spaces::collapse);
      if (text) texts_.push_back(*std::move(text));
    }
  }

  // Sets the language of the root.
  void edit_rest(std::vector<Edit>& edits) const override {
    constexpr std::size_t kMostBefore = 4096;
    const std::size_t root = lower_case(bytes_.substr(0, kMostBefore)).find("<html");
    if (root == bytes_.npos || language_.empty()) return;
    const std::size_t end = bytes_.find('>', root);
    for (std::size_t place = root; (place = bytes_.find("lang=", place + 1)) < end;) {
      const std::size_t value = place + 6, value_end = bytes_.find(bytes_[value - 1], value);
      const bool is_attribute = bytes_[place - 1] == ' ' || bytes_.substr(0, place).ends_with(" xml:");
      if (!is_attribute || value_end >= end) continue;
      edits.push_back({.range = {value, value_end}, .pieces = {{.text = escape_html(language_)}}});
    }
  }

 private:
  std::vector<Item> items_of(ByteRange range, const std::vector<InlineCode>& codes) const {
    std::vector<Item> items;
    std::vector<std::size_t> number;  // indices of codes in `items`
    const auto add_text = [&items](std::size_t begin, std::size_t end) {
      if (begin < end) items.push_back({.kind = Item::Kind::text, .range = {begin, end}});
    };
    std::size_t place = range.begin;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const std::size_t begin = bytes_.find(codes[i].markup, place);
      add_text(place, begin);
      place = begin + codes[i].markup.size();
      number.push_back(items.size());
      Item code{.kind = Item::Kind::single, .range = {begin, place}};
      if (codes[i].partner) code.kind = *codes[i].partner > i ? Item::Kind::open : Item::Kind::close;
      if (code.kind == Item::Kind::close) {
        code.partner = number[*codes[i].partner];
        items[*code.partner].partner = items.size();
      }
      items.push_back(std::move(code));
    }
    add_text(place, range.end);
    return items;
  }

  std::string language_;
};

}  // namespace

std::unique_ptr<TextFile> read_html(std::string_view bytes, const std::string& /*name*/,
                                    const DocumentOptions& options) {
  return std::make_unique<HtmlFile>(bytes, options, Nesting::free);
}

std::unique_ptr<TextFile> read_xhtml(std::string_view bytes, const std::string& /*name*/,
                                     const DocumentOptions& options) {
  return std::make_unique<HtmlFile>(bytes, options, Nesting::strict);
}

}  // namespace encdec::documents
