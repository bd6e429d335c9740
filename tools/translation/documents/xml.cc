#include "encdec/translation/documents/xml.h"

#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec::documents {
namespace {

constexpr std::size_t kMaxDepth = 256;

// Collects the tokens that expat reports.
class Collector {
 public:
  Collector(const InputFile& input, XmlTokens::Declarations declarations, std::vector<XmlToken>& tokens)
      : input_(input), bytes_(input.bytes), tokens_(tokens), parser_(XML_ParserCreate("UTF-8"), XML_ParserFree) {
    if (parser_ == nullptr) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    // Expat calls the default handler for each token that has no other handler, such as tags and parts of text. An
    // exception may propagate through expat, because afterwards the parser is only freed.
    XML_SetDefaultHandler(parser_.get(), [](void* self, const char*, int) { of(self).add(); });
    if (declarations == XmlTokens::Declarations::any) {
      std::ranges::replace(bytes_, '&', 'x');  // expat reads entities as text of the same size
      return;
    }
    XML_SetXmlDeclHandler(parser_.get(), [](void* self, const char*, const char* encoding, int) {
      if (encoding != nullptr && lower_case(encoding) != "utf-8")
        of(self).refuse_here("encoding is not UTF-8, expected UTF-8");
    });
    XML_SetEntityDeclHandler(parser_.get(),
                             [](void* self, const char*, int, const char*, int, const char*, const char*, const char*,
                                const char*) { of(self).refuse_here("declaration of an entity, expected none"); });
  }

  void parse() {
    const std::size_t size = input_.bytes.size();
    if (size > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      refuse(input_.name, "{} bytes of XML, expected less than 2 GiB", size);
    }
    if (XML_Parse(parser_.get(), bytes_.data(), static_cast<int>(size), 1) == XML_STATUS_OK) return;
    refuse_here(fmt::format("{}, expected well-formed XML", XML_ErrorString(XML_GetErrorCode(parser_.get()))));
  }

 private:
  static Collector& of(void* self) { return *static_cast<Collector*>(self); }

  std::size_t position() const {
    const XML_Index index = XML_GetCurrentByteIndex(parser_.get());
    return index < 0 ? 0 : static_cast<std::size_t>(index);
  }
  [[noreturn]] void refuse_here(std::string_view what) const { input_.refuse_at(position(), what); }
  void add() {
    input_.count(sizeof(XmlToken));
    const std::size_t begin = position();
    const ByteRange range = {begin, begin + static_cast<std::size_t>(XML_GetCurrentByteCount(parser_.get()))};
    const std::string_view part = range.of(input_.bytes);
    // Expat reports a text or a CDATA section in parts. Join these parts to one token.
    if (in_cdata_) {
      tokens_.back().range.end = range.end;
      in_cdata_ = part != "]]>";
    } else if (part == "<![CDATA[") {
      tokens_.push_back({.kind = XmlToken::Kind::text, .range = range});
      in_cdata_ = true;
    } else if (part.starts_with("</")) {
      end(range);
    } else if (part.starts_with('<') && !part.starts_with("<!") && !part.starts_with("<?")) {
      start(range);
      if (part.ends_with("/>")) end({range.end, range.end});
    } else if (part.starts_with('<') || open_.empty()) {
      tokens_.push_back({.kind = XmlToken::Kind::other, .range = range});
    } else if (tokens_.back().kind == XmlToken::Kind::text && input_.bytes[tokens_.back().range.begin] != '<') {
      tokens_.back().range.end = range.end;
    } else {
      tokens_.push_back({.kind = XmlToken::Kind::text, .range = range});
    }
  }
  void start(ByteRange range) {
    if (open_.size() == kMaxDepth) refuse_here("element inside 256 others, expected fewer");
    open_.push_back(tokens_.size());
    tokens_.push_back({.kind = XmlToken::Kind::start, .range = range});
  }
  void end(ByteRange range) {
    tokens_[open_.back()].partner = tokens_.size();
    tokens_.push_back({.kind = XmlToken::Kind::end, .range = range, .partner = open_.back()});
    open_.pop_back();
  }

  const InputFile& input_;
  std::string bytes_;  // the bytes that expat reads
  std::vector<XmlToken>& tokens_;
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
  std::vector<std::size_t> open_;
  bool in_cdata_ = false;  // the last token is an unfinished CDATA section
};

constexpr std::string_view kBegin = "<x>", kEnd = "</x>";

// A text with XML elements from a client. It is read as the content of an added element <x>, which the edits remove.
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

XmlTokens::XmlTokens(const InputFile& input, Declarations declarations) : bytes_(input.bytes) {
  Collector(input, declarations, tokens_).parse();
}

std::size_t XmlTokens::root() const {
  std::size_t i = 0;
  while (!is_start(i)) ++i;
  return i;
}

std::string_view XmlTokens::full_name(std::size_t i) const {
  if (!is_start(i)) return {};
  const std::string_view tag = bytes_of(i);
  return tag.substr(1, tag.find_first_of(" \t\r\n/>") - 1);
}

std::string_view XmlTokens::name(std::size_t i) const {
  const std::string_view full = full_name(i);
  return full.substr(full.find(':') + 1);
}

std::string_view XmlTokens::prefix(std::size_t i) const {
  const std::string_view full = full_name(i);
  return full.substr(0, full.find(':') + 1);
}

std::optional<ByteRange> XmlTokens::attribute_range(std::size_t i, std::string_view name) const {
  const std::string_view tag = bytes_of(i);
  std::size_t position = tag.find_first_of(kWhiteSpace);
  while (position < tag.size()) {
    position = tag.find_first_not_of(kWhiteSpace, position);
    const std::size_t equals = tag.find('=', position);
    if (position == tag.npos || equals == tag.npos) return std::nullopt;
    const std::size_t quote = tag.find_first_of("\"'", equals);
    const std::size_t end = quote == tag.npos ? quote : tag.find(tag[quote], quote + 1);
    if (end == tag.npos) return std::nullopt;
    const std::string_view found = tag.substr(position, equals - position);
    if (found.substr(0, found.find_last_not_of(kWhiteSpace) + 1) == name) {
      const std::size_t begin = tokens_[i].range.begin;
      return ByteRange{begin + quote + 1, begin + end};
    }
    position = end + 1;
  }
  return std::nullopt;
}

std::string XmlTokens::attribute(std::size_t i, std::string_view name) const {
  const auto found = attribute_range(i, name);
  return found ? unescape_xml(found->of(bytes_)) : "";
}

std::optional<std::size_t> XmlTokens::child(std::size_t i, std::string_view name) const {
  for (std::size_t j = i + 1; j < tokens_[i].partner; ++j) {
    if (!is_start(j)) continue;
    if (this->name(j) == name) return j;
    j = tokens_[j].partner;
  }
  return std::nullopt;
}

std::vector<Item> XmlTokens::items(std::size_t i, const std::function<Inline(std::size_t)>& kind_of) const {
  std::vector<Item> items;
  std::vector<std::size_t> open;
  for (std::size_t j = i + 1; j < tokens_[i].partner; ++j) {
    const XmlToken& token = tokens_[j];
    if (token.kind == XmlToken::Kind::end) {
      add_close(items, open.back(), token.range);
      open.pop_back();
      continue;
    }
    Item item{.kind = token.kind == XmlToken::Kind::text ? Item::Kind::text : Item::Kind::single, .range = token.range};
    const Inline kind = token.kind == XmlToken::Kind::other ? Inline::single : kind_of(j);
    const bool is_empty = is_start(j) && j + 1 == token.partner && bytes_of(token.partner).empty();
    if (kind == Inline::placeholder && !is_empty) item.kind = Item::Kind::placeholder;
    // The start tag of a pair is an item, and add_close() adds the end tag. Any other element is a single item.
    if (is_start(j) && kind == Inline::pair && !is_empty) {
      open.push_back(items.size());
    } else if (is_start(j)) {
      item.range = element(j);
      item.content = kind == Inline::placeholder ? content(j) : item.range;
      j = token.partner;
    }
    items.push_back(std::move(item));
  }
  return items;
}

void XmlTokens::set_attribute(std::size_t i, std::string_view name, std::string_view value,
                              std::vector<Edit>& edits) const {
  const std::string attribute = xml_attribute(name, value);
  if (const auto found = attribute_range(i, name)) {
    edits.push_back(
        {.range = {found->begin - 1, found->end + 1}, .parts = {{.text = attribute.substr(attribute.find('"'))}}});
  } else {
    const std::string_view tag = bytes_of(i);
    const std::size_t end = tokens_[i].range.begin + tag.find_last_not_of("/> \t\r\n") + 1;
    edits.push_back({.range = {end, end}, .parts = {{.text = attribute}}});
  }
}

std::string xml_attribute(std::string_view name, std::string_view value) {
  std::string escaped;
  for (const char c : value) escaped += c == '"' ? "&quot;" : escape_html({&c, 1});
  return fmt::format(" {}=\"{}\"", name, escaped);
}

std::string unescape_xml(std::string_view text) {
  constexpr std::string_view kCdata = "<![CDATA[";
  if (text.starts_with(kCdata)) return std::string(text.substr(kCdata.size(), text.size() - kCdata.size() - 3));
  std::string html;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && text.substr(i + 1).starts_with('\n')) continue;
    // Escape "<", which a text of WebVTT may contain.
    html += text[i] == '\r' ? "\n" : text[i] == '<' ? "&lt;" : std::string(1, text[i]);
  }
  return unescape_html(html);
}

std::unique_ptr<TextFile> read_xml_text(const InputFile& input, std::span<const std::string> kept) {
  return std::make_unique<XmlText>(input, kept);
}

}  // namespace encdec::documents
