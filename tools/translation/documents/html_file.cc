// HTML and XHTML. Attributes are not translated. A page is written in the charset that it declares.
#include <unicode/ucnv.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/translation/documents/xml.h"
#include "encdec/translation/text/html.h"
#include "encdec/translation/text/word_list.h"

namespace encdec::documents {
namespace {

// Encodes a text in a charset that ICU supports. Characters that the charset lacks become entities.
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

// Returns bytes as UTF-8. Returns nullopt if the charset does not extend ASCII, if encoding the text would not restore
// the bytes, or if the text has control characters from U+0080 to U+009F.
std::optional<std::string> decoded(std::string_view bytes, const std::string& charset) {
  std::string text;
  icu::UnicodeString(bytes.data(), static_cast<std::int32_t>(bytes.size()), charset.c_str()).toUTF8String(text);
  const auto is_control = [](const CodePoint& c) { return c.value >> 5 == 4; };
  const bool is_same = encoded("<a>", charset) == "<a>" && encoded(text, charset) == bytes;
  return is_same && std::ranges::none_of(code_points(text), is_control) ? std::optional(text) : std::nullopt;
}

// Returns the encoding from a byte order mark or an XML declaration, in lower case; "" if there is neither.
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
    input_.count(page.found.size() * sizeof(HtmlToken));
    std::vector<Item> items;
    std::vector<std::size_t> open;  // indices of the items that begin the open pairs
    const std::vector<HtmlToken> tokens = tokens_of(input_.bytes, page.found);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      auto [begin, end, kind, use, partner] = tokens[i];
      // Markup that is not inline ends a paragraph.
      if (kind == HtmlToken::Kind::other) {
        if (!items.empty()) add(std::exchange(items, {}));
      } else if (kind == HtmlToken::Kind::text) {
        while (!is_xhtml_ && i + 1 < tokens.size() && tokens[i + 1].kind == kind) end = tokens[++i].end;
        add_text({begin, end}, items);
      } else if (partner && *partner < i) {
        add_close(items, open.back(), {begin, end});
        open.pop_back();
      } else {
        if (partner) open.push_back(items.size());
        items.push_back({.kind = Item::Kind::single, .range = {begin, end}});
      }
    }
    add(std::move(items));
    if (input_.options.target_language.empty()) return;
    for (const auto& [first, last] : page.languages)
      add_edit({first, last}, escape_html(input_.options.target_language));
  }

  std::string with(std::vector<Edit> edits) const override {
    const std::string text = TextFile::with(std::move(edits));
    if (is_xhtml_) XmlTokens({.bytes = text, .name = input_.name + ": its translation"}, XmlTokens::Declarations::any);
    return charset_.empty() ? text : encoded(text, charset_);
  }

 private:
  // Parses the page in the charset that it declares.
  HtmlPage read() try {
    const bool is_utf8 = !find_invalid_utf8(input_.bytes);
    HtmlPage page = is_xhtml_ ? HtmlPage() : read_html_page(input_.bytes);
    std::string charset = first_encoding(input_.bytes);
    if (charset.empty()) charset = trim(page.charset);
    if (!charset.empty() && !charset.starts_with("utf")) {
      auto text = decoded(input_.bytes, charset_ = charset);
      // Browsers read these charsets as windows-1252, which has more characters.
      if (!text && has_word("ascii iso-8859-1 latin1 us-ascii", charset))
        text = decoded(input_.bytes, charset_ = "windows-1252");
      const bool has_utf8 = is_utf8 && std::ranges::any_of(input_.bytes, [](char c) { return (c & 0x80) != 0; });
      if (!text || has_utf8) {
        refuse(input_.name, "charset '{}' {}, expected utf-8", printable(charset),
               has_utf8 ? "declared for bytes in UTF-8" : "cannot be decoded and encoded losslessly");
      }
      input_.bytes = file_ = *std::move(text);
      if (!is_xhtml_) page = read_html_page(input_.bytes);
    }
    input_.check_encoding();
    return is_xhtml_ ? read_xhtml() : page;
  } catch (const InputError& error) {
    refuse(input_.name, "{}", error.what());
  }

  // Adds a text. Entities that HTML does not define become placeholders. CDATA sections have no entities.
  void add_text(ByteRange range, std::vector<Item>& items) const {
    const std::string_view bytes = input_.bytes.substr(0, range.end);
    const bool is_section = is_xhtml_ && bytes[range.begin] == '<';
    for (std::size_t i = range.begin; !is_section && (i = bytes.find('&', i)) < range.end; ++i) {
      const std::size_t end = bytes.find_first_of("&;< \n", i + 1) + 1;
      if (end < i + 3 || bytes[end - 1] != ';') continue;
      const std::string_view entity = bytes.substr(i, end - i);
      if (unescape_html(entity) != entity) continue;
      if (range.begin < i) items.push_back({.kind = Item::Kind::text, .range = {range.begin, i}});
      items.push_back({.kind = Item::Kind::placeholder, .range = {i, end}});
      range.begin = end;
    }
    if (range.begin < range.end) items.push_back({.kind = Item::Kind::text, .range = range});
  }

  // Returns a page that consists of all tokens of the XML file.
  HtmlPage read_xhtml() const {
    const XmlTokens xml(input_, XmlTokens::Declarations::any);
    HtmlPage page;
    std::vector<HtmlUse> open = {HtmlUse::translate};
    for (std::size_t i = 0; i < xml.size(); ++i) {
      const auto& [kind, range, partner] = xml[i];
      const bool is_start = kind == XmlToken::Kind::start, is_end = kind == XmlToken::Kind::end;
      if (is_start) {
        open.push_back(html_use(open.back(), xml.name(i), xml.attribute(i, "translate"), xml.attribute(i, "class")));
      }
      HtmlToken& token = page.found.emplace_back(HtmlToken{.begin = range.begin, .end = range.end, .use = open.back()});
      if (kind != XmlToken::Kind::text) token.kind = is_start || is_end ? HtmlToken::Kind::tag : HtmlToken::Kind::other;
      if (is_start && xml.bytes_of(partner).empty()) token.kind = HtmlToken::Kind::alone;
      if (is_end) open.pop_back();
    }
    for (const char* name : {"lang", "xml:lang"}) {
      if (const auto found = xml.attribute_range(xml.root(), name))
        page.languages.emplace_back(found->begin, found->end);
    }
    return page;
  }

  const bool is_xhtml_;
  std::string file_, charset_;  // decoded file and its charset; empty for UTF-8
};

}  // namespace

std::unique_ptr<TextFile> read_html(const InputFile& input) {
  // Read a file that looks like XML as XHTML. If it is malformed and not named .xhtml or .xht, read it as HTML.
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
