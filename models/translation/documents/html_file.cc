// HTML and XHTML. Attributes are not translated. A page is written in the charset that it declares.
#include <fmt/format.h>
#include <unicode/ucnv.h>
#include <unicode/unistr.h>

#include <algorithm>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/lower_case.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/translation/documents/xml.h"
#include "encdec/models/translation/text/html.h"
#include "encdec/models/translation/text/word_list.h"

namespace encdec::documents {
namespace {

// Returns the bytes of a text in a charset that ICU knows. Characters that it lacks become entities.
std::string encoded(std::string_view text, const std::string& charset) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::LocalUConverterPointer converter(ucnv_open(charset.c_str(), &status));
  ucnv_setFromUCallBack(converter.getAlias(), UCNV_FROM_U_CALLBACK_ESCAPE, UCNV_ESCAPE_XML_DEC, nullptr, nullptr,
                        &status);
  const auto characters = icu::UnicodeString::fromUTF8({text.data(), static_cast<std::int32_t>(text.size())});
  std::string bytes(static_cast<std::size_t>(characters.extract(nullptr, 0, converter.getAlias(), status)), '\0');
  status = U_ZERO_ERROR;
  characters.extract(bytes.data(), static_cast<std::int32_t>(bytes.size()), converter.getAlias(), status);
  return bytes;
}

// Returns the text of bytes in a charset; nullopt if it would not be written as the same bytes.
std::optional<std::string> decoded(std::string_view bytes, const std::string& charset) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::LocalUConverterPointer converter(ucnv_open(charset.c_str(), &status));
  if (U_FAILURE(status)) return std::nullopt;
  const icu::UnicodeString characters(bytes.data(), static_cast<std::int32_t>(bytes.size()), converter.getAlias(),
                                      status);
  std::string text;
  characters.toUTF8String(text);
  const bool has_controls =
      std::ranges::any_of(code_points(text), [](const CodePoint& c) { return c.value >> 5 == 4; });
  const bool has_tags = encoded("<a>", charset) == "<a>";
  return !has_tags || has_controls || encoded(text, charset) != bytes ? std::nullopt : std::optional(std::move(text));
}

// Returns the encoding that the first bytes declare, in lower case; an empty text if they do not.
std::string first_encoding(std::string_view bytes) {
  if (bytes.starts_with("\ufeff")) return "utf-8";
  const std::string_view declaration = bytes.substr(0, bytes.starts_with("<?xml") ? bytes.find("?>") : 0);
  const std::size_t quote = declaration.find_first_of("\"'", declaration.find("encoding"));
  if (quote == bytes.npos) return "";
  return lower_case(declaration.substr(quote + 1, declaration.find(declaration[quote], quote + 1) - quote - 1));
}

class Html final : public TextFile {
 public:
  Html(const InputFile& input, bool is_xhtml)
      : TextFile(input, {.unescape = is_xhtml ? unescape_xml : unescape_html,
                         .escape = escape_html,
                         .spaces = Spaces::collapse,
                         .nesting = is_xhtml ? Nesting::strict : Nesting::free}),
        is_xhtml_(is_xhtml) {
    const HtmlPage page = read();
    input_.count(page.marks.size() * sizeof(HtmlMark));
    std::size_t begin = 0;
    for (const HtmlPart& part : parts_of(input_.bytes, page.marks)) {
      if (part.is_text) add(items_of(begin, part));
      begin += part.bytes;
    }
    if (input_.options.target_language.empty()) return;
    for (const auto& [first, last] : page.languages)
      add_edit({first, last}, escape_html(input_.options.target_language));
  }

  std::string with(std::vector<Edit> edits) const override {
    const std::string text = TextFile::with(std::move(edits));
    if (is_xhtml_) XmlTokens({.bytes = text, .name = fmt::format("{}: its translation", input_.name)}, kAny);
    return charset_.empty() ? text : encoded(text, charset_);
  }

 private:
  static constexpr auto kAny = XmlTokens::Declarations::any;

  // Reads the page in the charset that it declares.
  HtmlPage read() {
    const bool is_utf8 = !find_invalid_utf8(input_.bytes);
    std::string ascii;
    std::ranges::transform(input_.bytes, std::back_inserter(ascii), [](char c) { return (c & 0x80) == 0 ? c : '?'; });
    HtmlPage page = is_xhtml_ ? HtmlPage() : read_tree(is_utf8 ? input_.bytes : ascii);
    std::string charset = first_encoding(input_.bytes);
    if (charset.empty()) charset = trim(page.charset);
    if (!charset.empty() && !charset.starts_with("utf")) {
      decode(charset, is_utf8 && ascii != input_.bytes);
      if (!is_xhtml_) page = read_tree(input_.bytes);
    }
    input_.check_encoding();
    return is_xhtml_ ? read_xhtml() : page;
  }

  HtmlPage read_tree(std::string_view bytes) const {
    try {
      return read_html_page(bytes);
    } catch (const InputError& error) {
      refuse(input_.name, "{}", error.what());
    }
  }

  void decode(const std::string& charset, bool is_utf8) {
    auto text = decoded(input_.bytes, charset_ = charset);
    // Browsers read windows-1252, which has more characters, in place of these.
    if (!text && has_word("ascii iso-8859-1 latin1 us-ascii", charset))
      text = decoded(input_.bytes, charset_ = "windows-1252");
    if (!text || is_utf8) {
      refuse(input_.name, "charset '{}' {}, expected utf-8", printable(charset),
             is_utf8 ? "of bytes in UTF-8" : "that cannot be read and written again");
    }
    file_ = *std::move(text);
    input_.bytes = file_;
  }

  std::vector<Item> items_of(std::size_t begin, const HtmlPart& part) const {
    std::vector<Item> items;
    std::vector<std::size_t> open;  // pairs: indices of items
    ByteRange text = {begin, begin + part.bytes};
    for (std::size_t i = 0; i < part.places.size(); ++i) {
      const auto& [_, markup, partner] = part.segment.codes[i];
      const ByteRange code = {begin + part.places[i], begin + part.places[i] + markup.size()};
      add_text({text.begin, code.begin}, items);
      text.begin = code.end;
      if (partner && *partner < i) {
        add_close(items, open.back(), code);
        open.pop_back();
      } else {
        if (partner) open.push_back(items.size());
        items.push_back({.kind = Item::Kind::single, .range = code});
      }
    }
    add_text(text, items);
    return items;
  }

  // Adds a text. A section of XHTML is an item. An entity that HTML does not have is one of the file's own.
  void add_text(ByteRange range, std::vector<Item>& items) const {
    const std::string_view bytes = input_.bytes.substr(0, range.end);
    const auto add_item = [&](Item::Kind kind, std::size_t end) {
      if (range.begin < end) items.push_back({.kind = kind, .range = {range.begin, end}});
      range.begin = end;
    };
    for (std::size_t i = range.begin; (i = bytes.find_first_of("&<", i)) < range.end;
         i = std::max(i + 1, range.begin)) {
      if (is_xhtml_ && bytes[i] == '<') {
        add_item(Item::Kind::text, i);
        add_item(Item::Kind::text, bytes.find("]]>", i) + 3);
        continue;
      }
      const std::size_t last = bytes.find_first_of("&;< \n", i + 1);
      if (bytes[i] == '<' || last == bytes.npos || bytes[last] != ';' || last == i + 1) continue;
      const std::string_view entity = bytes.substr(i, last + 1 - i);
      if (unescape_html(entity) != entity) continue;
      add_item(Item::Kind::text, i);
      add_item(Item::Kind::placeholder, last + 1);
    }
    add_item(Item::Kind::text, range.end);
  }

  HtmlPage read_xhtml() const {
    const XmlTokens xml(input_, kAny);
    HtmlPage page;
    std::vector<HtmlUse> open = {HtmlUse::translate};
    for (std::size_t i = 0; i < xml.size(); ++i) {
      const auto& [kind, range, partner] = xml[i];
      if (kind == XmlToken::Kind::start) {
        open.push_back(html_use(open.back(), xml.name(i), xml.attribute(i, "translate"), xml.attribute(i, "class")));
      }
      HtmlMark& mark = page.marks.emplace_back(HtmlMark{.begin = range.begin, .end = range.end, .use = open.back()});
      if (kind == XmlToken::Kind::other) mark.kind = HtmlMark::Kind::other;
      if (kind == XmlToken::Kind::start || kind == XmlToken::Kind::end) mark.kind = HtmlMark::Kind::tag;
      if (kind == XmlToken::Kind::start && xml.bytes_of(partner).empty()) mark.kind = HtmlMark::Kind::alone;
      if (kind == XmlToken::Kind::end) open.pop_back();
    }
    for (const char* name : {"lang", "xml:lang"}) {
      if (const auto place = xml.attribute_place(xml.root(), name))
        page.languages.emplace_back(place->begin, place->end);
    }
    return page;
  }

  const bool is_xhtml_;
  std::string file_, charset_;  // set if the charset is not UTF-8
};

}  // namespace

std::unique_ptr<TextFile> read_html(const InputFile& input) {
  const std::string name = lower_case(input.name);
  const bool is_named = name.ends_with(".xhtml") || name.ends_with(".xht");
  if (is_named || input.bytes.substr(0, 8).find("<?xml") != input.bytes.npos) {
    try {
      return std::make_unique<Html>(input, true);
    } catch (const FileError&) {
      if (is_named) throw;
    }
  }
  return std::make_unique<Html>(input, false);
}

}  // namespace encdec::documents
