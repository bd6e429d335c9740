// HTML and XHTML. Attributes are not translated.
#include "encdec/models/tokenizer/base/lower_case.h"
#include "encdec/models/translation/documents/text_file.h"
#include "encdec/models/translation/text/html.h"

namespace encdec::documents {
namespace {

std::vector<Item> items_of(std::string_view bytes, ByteRange range, const std::vector<InlineCode>& codes) {
  std::vector<Item> items;
  std::vector<std::size_t> open;  // pairs: indices of items
  const auto add = [&items](Item::Kind kind, std::size_t begin, std::size_t end) {
    if (begin < end) items.push_back({.kind = kind, .range = {begin, end}});
  };
  // An entity that HTML does not have is one of the file's own.
  const auto add_text = [&](std::size_t begin, std::size_t end) {
    const std::string_view before_end = bytes.substr(0, end);
    for (std::size_t i = before_end.find('&', begin); i < end; i = before_end.find('&', i + 1)) {
      const std::size_t last = bytes.find_first_of("&;< \n", i + 1);
      if (last >= end || bytes[last] != ';' || last == i + 1) continue;
      const std::string_view entity = bytes.substr(i, last + 1 - i);
      if (unescape_html(entity) != entity) continue;
      add(Item::Kind::text, begin, i);
      add(Item::Kind::placeholder, i, last + 1);
      begin = last + 1;
    }
    add(Item::Kind::text, begin, end);
  };
  std::size_t place = range.begin;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const std::size_t begin = bytes.find(codes[i].markup, place);
    add_text(place, begin);
    place = begin + codes[i].markup.size();
    if (codes[i].partner && *codes[i].partner < i) {
      add_close(items, open.back(), {begin, place});
      open.pop_back();
    } else {
      if (codes[i].partner) open.push_back(items.size());
      add(Item::Kind::single, begin, place);
    }
  }
  add_text(place, range.end);
  return items;
}

// Sets the language of the root.
void set_language(TextFile& file, const std::string& language) {
  constexpr std::size_t kMostBefore = 4096;
  const std::string_view bytes = file.bytes();
  const std::size_t root = lower_case(bytes.substr(0, kMostBefore)).find("<html");
  if (root == bytes.npos || language.empty()) return;
  const std::size_t end = bytes.find('>', root);
  for (std::size_t place = root; (place = bytes.find("lang=", place + 1)) < end;) {
    const std::size_t value = place + 6, value_end = bytes.find(bytes[value - 1], value);
    const bool is_attribute = bytes[place - 1] == ' ' || bytes.substr(0, place).ends_with(" xml:");
    if (is_attribute && value_end < end) file.add_edit({value, value_end}, escape_html(language));
  }
}

}  // namespace

std::unique_ptr<TextFile> read_html(const InputFile& input) {
  auto file = std::make_unique<TextFile>(
      input, Syntax{.unescape = unescape_html, .escape = escape_html, .spaces = Spaces::collapse});
  std::size_t begin = 0;
  for (const HtmlPart& part : parse_html(input.bytes)) {
    if (part.is_text) file->add(items_of(input.bytes, {begin, begin + part.bytes}, part.segment.codes));
    begin += part.bytes;
  }
  set_language(*file, input.options.target_language);
  return file;
}

}  // namespace encdec::documents
